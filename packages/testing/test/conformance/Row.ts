/**
 * A row of the conformance table: a request, what S3 documents as its answer, and where the real store is known to answer
 * otherwise.
 */

/** A value stands for itself, a pattern for what fits it, `true` for anything, `false` for nothing at all. */
export type Wanted = string | RegExp | boolean

export interface Expected {
  readonly status: number
  /** `<Code>` of the error document. */
  readonly code?: string
  /** Elements that the error document has beside `<Code>`. */
  readonly elements?: ReadonlyArray<string>
  readonly headers?: Readonly<Record<string, Wanted>>
  readonly body?: string
}

/** How the real store differs, and why that is no fault of the sandbox. */
export interface Difference extends Partial<Expected> {
  readonly reason: string
}

/** What the bucket holds before the request is made. */
export type Given =
  | "nothing"
  /** `0123456789`, as text/plain. */
  | "an object"
  /** A multipart upload without parts. */
  | "an upload"

export type Method = "GET" | "HEAD" | "OPTIONS" | "PUT" | "POST"

/** What the URL is signed for. */
export interface Signed {
  readonly method?: Method
  /** The part that the URL is for: of the upload that is given, or of one that never was. */
  readonly part?: { readonly number: number | string; readonly upload?: "unknown" }
  /** Headers that the signature covers. Default: the encryption headers for a single PUT, else none. */
  readonly headers?: Readonly<Record<string, string>>
  /** In seconds. */
  readonly expiresIn?: number
  /** How long ago it was signed, in seconds; negative for the future. */
  readonly ago?: number
  readonly region?: string
  readonly accessKeyId?: string
  readonly bucket?: string
  /** Put behind the key. */
  readonly suffix?: string
}

/** What goes over the wire. `{etag}` in a header is the etag of the object that is given. */
export interface Sent {
  readonly method?: Method
  /** Beside what is signed. */
  readonly headers?: Readonly<Record<string, string>>
  /** Signed headers that are not sent. */
  readonly without?: ReadonlyArray<string>
  readonly body?: string
  /** How the body's length is told. Default: by `Content-Length`. */
  readonly framing?: "length" | "chunked" | "none"
  /** What `Content-Length` says instead of the truth. */
  readonly declared?: number
  /** Closes the connection behind the body, whatever was declared. */
  readonly hangUp?: boolean
}

export interface HttpRow {
  readonly kind: "http"
  readonly title: string
  readonly given?: Given
  /** `false` for a request that is not signed. */
  readonly signed?: Signed | false
  /** What is done to the signed URL before it is used. */
  readonly tamper?: (url: URL) => void
  readonly sent?: Sent
  /** The answer that counts is that of a GET of the same key afterwards. */
  readonly readBack?: boolean
  readonly expected: Expected
  readonly store?: Difference
}

/** A Complete, as the service makes it. Sizes in bytes. */
export interface CompleteRow {
  readonly kind: "complete"
  readonly title: string
  /** The parts that are sent, in this order: a later one of the same number replaces an earlier one. */
  readonly parts: ReadonlyArray<readonly [number: number, size: number]>
  /** The parts that Complete names, each by its place in `parts`, or with an etag that no part has. */
  readonly listed: ReadonlyArray<number | { readonly number: number; readonly etag: string }>
  /** What was done to the upload before. */
  readonly before?: "completed" | "aborted"
  /** The upload that is named, when it is not the one that is given. */
  readonly upload?: "unknown"
  /** `size` in bytes and `parts`, the count in the etag, are of the object that is made: status 200. */
  readonly expected: Expected & { readonly size?: number }
  readonly store?: Difference
}

export type Row = HttpRow | CompleteRow

export interface Section {
  readonly title: string
  readonly rows: ReadonlyArray<Row>
}
