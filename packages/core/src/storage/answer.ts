/** Reads the body of a storage response without trusting it: an XML error document, a proxy's HTML page, or nothing. */
import * as Option from "effect/Option"
import { validDate } from "../base/time.js"
import type { PresignedUrl } from "../PresignedUrl.js"
import type { Secrets } from "./withoutSecrets.js"
import { withoutSecrets } from "./withoutSecrets.js"

/** The parts of a response that determine its meaning. */
export interface StorageAnswer {
  /** The HTTP status; 0 if a browser would not tell. */
  readonly status: number
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The first 64 KiB of the body; empty if it could not be read. */
  readonly body: string
}

/**
 * The fields of an error document: of S3, and of what speaks its dialect or a similar one. All are absent if the body is
 * not such a document.
 */
export interface ErrorDocument {
  readonly code: string | undefined
  readonly storageMessage: string | undefined
  readonly requestId: string | undefined
  /** When the URL expired or expires, according to storage. */
  readonly expires: Date | undefined
  /** The storage's clock. */
  readonly serverTime: Date | undefined
  /** Header names in lower case. */
  readonly headersNotSigned: ReadonlyArray<string>
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: "\"", apos: "'", nbsp: " " }

const unescaped = (text: string): string =>
  text.replace(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(\w{2,4}));/gi, (whole, hex?: string, digits?: string, name = "") => {
    const point = hex === undefined ? Number(digits) : parseInt(hex, 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : entities[name.toLowerCase()] ?? whole
  })

const cdata = /<!\[CDATA\[([\s\S]*?)\]\]>/

// What it says, without marks of the markup; none if it holds elements
const textIn = (xml: string): string | undefined => {
  const text = xml.split(cdata).map((piece, index) =>
    index % 2 === 1 ? piece : piece.includes("<") ? undefined : unescaped(piece)
  )
  return text.includes(undefined) ? undefined : text.join("").trim()
}

// From the first mark of its beginning only: looking for the end from each of many would take the square of their number
const element = (document: string, name: string, url: PresignedUrl | undefined): string | undefined => {
  const begin = new RegExp(`<((?:[\\w.-]+:)?${name})(?:\\s[^<>]*)?>`).exec(document)
  if (begin === null) return undefined
  const from = begin.index + begin[0].length
  const length = document.slice(from).search(new RegExp(`</${begin[1]}\\s*>`))
  // Storage may quote the URL of the request
  const text = length === -1 ? undefined : textIn(document.slice(from, from + length).replace(/<!--[\s\S]*?-->/g, ""))
  return text ? withoutSecrets(text, { url }, name === "Code" || name === "RequestId" ? 200 : undefined) : undefined
}

const date = (text = ""): Date | undefined => Option.getOrUndefined(validDate(new Date(text)))

// Azure has its times only in a sentence: "Start [...] - Expiry [...] - Current [...]"
const timeIn = (sentence: string | undefined, name: string): Date | undefined =>
  date(new RegExp(`\\b${name} \\[([^\\]]*)\\]`).exec(sentence ?? "")?.[1])

/**
 * Reads an error document. Never fails: any other body has no fields. No field has a value of the query of `url`, that of
 * the request.
 */
export const readErrorDocument = (body: string, url?: PresignedUrl): ErrorDocument => {
  const field = (name: string) => isErrorDocument(body) ? element(body, name, url) : undefined
  const detail = field("AuthenticationErrorDetail")
  return {
    code: field("Code"),
    // Azure and Google say in their details what expired, and Azure in a field which header it is about
    storageMessage:
      [field("Message"), detail ?? field("Details"), field("HeaderName")].filter((text) => text !== undefined).join(
        " "
      ) ||
      undefined,
    requestId: field("RequestId"),
    expires: date(field("Expires")) ?? timeIn(detail, "Expiry"),
    serverTime: date(field("ServerTime")) ?? timeIn(detail, "Current"),
    headersNotSigned: (field("HeadersNotSigned") ?? "")
      .split(/[,\s]+/)
      .filter((name) => name !== "")
      .map((name) => name.toLowerCase())
  }
}

const prologue = String.raw`^\ufeff?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--[^>]*-->\s*)*(?:<!DOCTYPE[^>]*>\s*)?`

const errorDocument = new RegExp(
  String.raw`${prologue}(?:<(?:[\w.-]+:)?ErrorResponse(?:\s[^>]*)?>\s*)?<(?:[\w.-]+:)?Error[\s/>]`
)

/** Whether a body is S3's error document, or one like it. A 200 with one in its body is a failure. */
export const isErrorDocument = (body: string): boolean => errorDocument.test(body)

/**
 * Whether a body is a web page. Storage sends none: a 2xx with one is from something in between, such as a network's
 * sign-in page, whatever its headers say.
 */
export const isPage = (body: string): boolean => /^\ufeff?\s*(?:<!--[^>]*-->\s*)*<(!doctype html|html)[\s>]/i.test(body)

const longestExcerpt = 200

/**
 * A line of a body that is not storage's, such as a firewall's page: what a reader would see of it, without secrets
 * such as the query of the request's URL, and the token. None if there is nothing to see.
 */
export const excerptOf = (
  body: string,
  secrets: Secrets = {}
): string | undefined => {
  const seen = unescaped(
    body.slice(0, 16_384).replace(/<(script|style)\b[\s\S]*?<\/\1\s*>/gi, " ").replace(/<[^<>]*>/g, " ")
  ).replace(/[\s\p{Cc}\ufeff]+/gu, " ").trim()
  const line = withoutSecrets(seen, secrets)
    // what is long and no word may be a key that something quotes
    .replace(/(?=\S*\d)(?=\S*[a-z])[^\s"<>]{12,}/gi, "<redacted>")
    .replace(/\bbearer <redacted>/gi, "<redacted>")
  return line === "" ? undefined : line.length > longestExcerpt ? `${line.slice(0, longestExcerpt)}…` : line
}

/** What a refusal says: the message of an error document, or else the excerpt of another body. */
export const wordsOf = (body: string, url?: PresignedUrl): string | undefined =>
  readErrorDocument(body, url).storageMessage ?? excerptOf(body, { url })

const encodingOf = (bytes: Uint8Array, mediaType: string): string => {
  const start = String.fromCharCode(...bytes.subarray(0, 100).filter((byte) => byte !== 0))
  const declared = /charset="?([\w.:-]+)/i.exec(mediaType)?.[1] ??
    /^\s*<\?xml[^>]*\sencoding=["']([\w.:-]+)/.exec(start)?.[1] ?? "utf-8"
  const [first, second] = bytes
  if (first === 0xfe && second === 0xff || first === 0 && second !== 0) return "utf-16be"
  if (first === 0xff && second === 0xfe || second === 0 && first !== 0) return "utf-16le"
  return /^utf-?16/i.test(declared) ? "utf-8" : declared
}

/**
 * The text of a response, in the encoding of its mark, its type or its XML declaration; UTF-8 if there is none, or one
 * that this platform does not know.
 */
export const textOf = (bytes: Uint8Array, mediaType = ""): string => {
  try {
    return new TextDecoder(encodingOf(bytes, mediaType)).decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes)
  }
}
