/**
 * Reads the body of a storage response without trusting it: an XML error document, a proxy's HTML page, or nothing.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import { validDate } from "./internal/validDate.js"
import { withoutSecrets } from "./internal/withoutSecrets.js"
import type { PresignedUrl } from "./PresignedUrl.js"

/**
 * The parts of a response that determine its meaning.
 *
 * @since 0.1.0
 * @category models
 */
export interface StorageAnswer {
  /** The HTTP status; 0 if a browser would not tell. */
  readonly status: number
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The first 64 KiB of the body; empty if it could not be read. */
  readonly body: string
}

/**
 * The fields of S3's error document. All are absent if the body is not such a document.
 *
 * @since 0.1.0
 * @category models
 */
export interface ErrorDocument {
  readonly code: string | undefined
  readonly storageMessage: string | undefined
  readonly requestId: string | undefined
  /** When the URL expired, according to storage. */
  readonly expires: Date | undefined
  /** The storage's clock. */
  readonly serverTime: Date | undefined
  /** Header names in lower case. */
  readonly headersNotSigned: ReadonlyArray<string>
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: "\"", apos: "'" }

// Storage may quote the URL of the request
const element = (document: string, name: string, url: PresignedUrl | undefined): string | undefined => {
  const match = new RegExp(`<${name}>([^<]*)</${name}>`).exec(document)
  const text = match?.[1]?.replace(/&(amp|lt|gt|quot|apos);/g, (_, entity: string) => entities[entity] ?? "").trim()
  return text ? withoutSecrets(text, { url }, name === "Code" || name === "RequestId" ? 200 : undefined) : undefined
}

const date = (text = ""): Date | undefined => Option.getOrUndefined(validDate(new Date(text)))

/**
 * Reads S3's error document. Never fails: any other body has no fields. No field has a value of the query of `url`, that
 * of the request.
 *
 * @since 0.1.0
 * @category constructors
 */
export const readErrorDocument = (body: string, url?: PresignedUrl): ErrorDocument => {
  const field = (name: string) => isErrorDocument(body) ? element(body, name, url) : undefined
  return {
    code: field("Code"),
    storageMessage: field("Message"),
    requestId: field("RequestId"),
    expires: date(field("Expires")),
    serverTime: date(field("ServerTime")),
    headersNotSigned: (field("HeadersNotSigned") ?? "")
      .split(/[,\s]+/)
      .filter((name) => name !== "")
      .map((name) => name.toLowerCase())
  }
}

/**
 * Whether a body is S3's error document. A 200 with one in its body is a failure.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isErrorDocument = (body: string): boolean => /^\s*(<\?xml[^>]*\?>\s*)?<Error[\s>]/.test(body)

/**
 * Whether a body is a web page. Storage sends none: a 2xx with one is from something in between, such as a network's
 * sign-in page, whatever its headers say.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isPage = (body: string): boolean => /^\s*<(!doctype html|html)[\s>]/i.test(body)
