/**
 * What a response of the object storage means: one table, decided by status, code and structure, and only as a last
 * resort by the text of a message.
 */
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Time from "../base/time.js"
import { isForNow } from "../errors/errorWords.js"
import { UrlNotYetValid } from "../errors/storageWords.js"
import * as PresignedUrl from "../PresignedUrl.js"
import type { StorageError } from "../StorageError.js"
import {
  EtagMissing,
  HeadersNotSigned,
  SignatureMismatch403,
  StorageForbidden,
  StorageRejected,
  StorageUnavailable,
  UrlExpired
} from "../StorageError.js"
import type { ErrorDocument, StorageAnswer } from "./answer.js"
import { excerptOf, isErrorDocument, isPage, readErrorDocument } from "./answer.js"
import * as RangedContent from "./range.js"
import { withoutSecrets } from "./withoutSecrets.js"

/** The parts of a request that determine what the response means. */
export interface SentRequest {
  readonly url: PresignedUrl.PresignedUrl
  /** The names of the headers that were sent, in lower case. */
  readonly sentHeaders: ReadonlyArray<string>
  /** The server's clock when the response arrived, in milliseconds. A `Date` in the response takes precedence. */
  readonly serverNow: number
  /** Which attempt it was, from 1. */
  readonly attempts: number
  /** Whether the transport may have sent the URL in another spelling than was signed. Defaults to false. */
  readonly respelled?: boolean | undefined
}

/** What storage returns for bytes that it has stored. */
export interface PutReceipt {
  /** Opaque: sent back verbatim, quotes included. */
  readonly etag: string
  readonly requestId: string | undefined
  /** The `x-amz-checksum-*` headers, by algorithm such as `crc32`. */
  readonly checksums: Readonly<Record<string, string>>
  /** Whether the request may have been sent more than once, because browsers repeat one whose connection broke. */
  readonly perhapsRepeated?: boolean | undefined
}

/** The receipt of a PUT, or the one typed error for its response. */
export const interpretPut = (answer: StorageAnswer, asked: SentRequest): Either.Either<PutReceipt, StorageError> =>
  Either.flatMap(interpret(answer, asked), () => {
    const etag = answer.headers["etag"]
    return etag === undefined || etag === ""
      ? Either.left(new EtagMissing(context(answer, asked, readErrorDocument(answer.body, asked.url))))
      : Either.right({
        etag,
        requestId: requestIdOf(answer, asked),
        checksums: Object.fromEntries(
          Object.entries(answer.headers)
            .filter(([name]) => name.startsWith("x-amz-checksum-") && name !== "x-amz-checksum-type")
            .map(([name, value]) => [name.slice("x-amz-checksum-".length), value])
        )
      })
  })

/** Nothing if the response is a success, otherwise the one typed error for it. */
export const interpret = (answer: StorageAnswer, asked: SentRequest): Either.Either<void, StorageError> => {
  const { body, status } = answer
  if (status >= 200 && status < 300 && !isErrorDocument(body) && !isPage(body)) return Either.void
  const document = readErrorDocument(body, asked.url)
  return Either.left(
    endedWithItsCredentials(answer, asked, document) ??
      (answer.status === 403 ? forbidden(answer, asked, document) : other(answer, asked, document))
  )
}

// An id as storage has it, which no secret is: a text is looked through only where it may be one
const plainId = /^[\w-]{1,20}$/

const requestIdOf = ({ headers }: StorageAnswer, { url }: SentRequest): string | undefined => {
  const id = headers["x-amz-request-id"]
  return id === undefined || (plainId.test(id) && !PresignedUrl.reveal(url).includes(id))
    ? id
    : withoutSecrets(id, { url }, 200)
}

const context = (answer: StorageAnswer, asked: SentRequest, document: ErrorDocument) => ({
  part: Option.getOrUndefined(asked.url.partNumber),
  requestId: requestIdOf(answer, asked) ?? document.requestId,
  words: document.storageMessage,
  attempts: asked.attempts
})

const endedWithItsCredentials = (
  answer: StorageAnswer,
  asked: SentRequest,
  document: ErrorDocument
): StorageError | undefined => {
  const reason = endings.get(document.code ?? "")
  if (reason === undefined) return undefined
  return reason === "Clock" && isEarly(answer, asked, document)
    ? notYet(answer, asked, document)
    : expired(answer, asked, document, reason === "Credentials" && isOfSignature(document) ? "Refused" : reason)
}

const endings: ReadonlyMap<string, UrlExpired["reason"]> = new Map([
  ["ExpiredToken", "Credentials"],
  ["TokenRefreshRequired", "Credentials"],
  ["InvalidToken", "Credentials"],
  ["InvalidAccessKeyId", "UnknownKey"],
  ["RequestTimeTooSkewed", "Clock"],
  ["RequestExpired", "Refused"],
  ["ExpiredRequest", "Refused"]
])

const expired = (
  answer: StorageAnswer,
  asked: SentRequest,
  document: ErrorDocument,
  reason: UrlExpired["reason"]
): UrlExpired =>
  new UrlExpired({
    ...context(answer, asked, document),
    reason,
    deadline: reason === "Refused" ? document.expires ?? ownDeadline(asked) : undefined,
    serverTime: document.serverTime
  })

// An assumed time is not the URL's
const ownDeadline = ({ url }: SentRequest): Date | undefined =>
  url.isAssumed ? undefined : Option.getOrUndefined(url.deadline)

const forbidden = (answer: StorageAnswer, asked: SentRequest, document: ErrorDocument): StorageError => {
  const told = context(answer, asked, document)
  if (document.headersNotSigned.length > 0) {
    return new HeadersNotSigned({ ...told, headers: document.headersNotSigned })
  }
  if (isMismatch(document)) return mismatch(asked, told)
  if (isEarly(answer, asked, document)) return notYet(answer, asked, document)
  if (hasExpired(answer, asked, document)) return expired(answer, asked, document, "Refused")
  if (document.code !== undefined) return new StorageForbidden({ ...told, code: document.code })
  const excerpt = othersWords(answer, asked)
  return excerpt === undefined
    ? mismatch(asked, told)
    : new StorageRejected({ ...told, status: answer.status, excerpt })
}

// A document that was cut off has nothing to say, but it is storage's
const othersWords = ({ body }: StorageAnswer, { url }: SentRequest): string | undefined =>
  isErrorDocument(body) ? undefined : excerptOf(body, { url })

// The second is how Azure says it: the same code stands for an expiry
const isMismatch = ({ code, storageMessage = "" }: ErrorDocument): boolean =>
  code === "SignatureDoesNotMatch" ||
  (code === "AuthenticationFailed" && /signature did not match/i.test(storageMessage))

// Storage decides, by its own clock: the order of the times says more than any code, which is the same for an expiry
const isEarly = (answer: StorageAnswer, asked: SentRequest, document: ErrorDocument): boolean => {
  const storageTime = toldTime(answer, document)
  return storageTime === undefined
    ? /not (yet )?valid|not valid yet/i.test(document.storageMessage ?? "") && !saysExpired(document)
    : Option.exists(asked.url.signedAt, (start) => storageTime < start.getTime())
}

const notYet = (answer: StorageAnswer, asked: SentRequest, document: ErrorDocument): UrlNotYetValid => {
  const storageTime = toldTime(answer, document)
  const start = Option.getOrUndefined(asked.url.signedAt)
  return new UrlNotYetValid({
    ...context(answer, asked, document),
    start,
    serverTime: storageTime === undefined ? undefined : new Date(storageTime),
    // storage's clock may be shown in whole seconds
    retryAfter: storageTime === undefined || start === undefined
      ? undefined
      : Duration.millis(start.getTime() - storageTime + 1000)
  })
}

const hasExpired = (answer: StorageAnswer, asked: SentRequest, document: ErrorDocument): boolean =>
  document.expires !== undefined || saysExpired(document) ||
  PresignedUrl.hasEnded(asked.url, toldTime(answer, document) ?? asked.serverNow)

// Google has one code for both
const isOfSignature = ({ storageMessage = "" }: ErrorDocument): boolean => /signature expired/i.test(storageMessage)

const saysExpired = ({ storageMessage = "" }: ErrorDocument): boolean =>
  /expired|signature not valid in the specified time frame/i.test(storageMessage)

// Storage decides whether a URL has expired, and our clock may be wrong or have been set while the request was sent
const toldTime = (answer: StorageAnswer, { serverTime }: ErrorDocument): number | undefined =>
  serverTime?.getTime() ?? Time.httpDate(answer.headers["date"])

const mismatch = (asked: SentRequest, told: ReturnType<typeof context>): SignatureMismatch403 =>
  new SignatureMismatch403({
    ...told,
    signedHeaders: asked.url.signedHeaders,
    sentHeaders: asked.sentHeaders,
    respelled: asked.respelled === true ? true : undefined
  })

const other = (answer: StorageAnswer, asked: SentRequest, document: ErrorDocument): StorageError => {
  const told = { ...context(answer, asked, document), status: answer.status, code: document.code }
  return isPassing(answer.status, document.code)
    ? new StorageUnavailable({ ...told, retryAfter: Time.retryAfterIn(answer.headers, asked.serverNow) })
    : new StorageRejected({
      ...told,
      totalLength: RangedContent.lengthOutside(answer),
      excerpt: answer.status < 400 ? undefined : othersWords(answer, asked)
    })
}

const isPassing = (status: number, code: string | undefined): boolean => {
  if (status < 300) return true
  if (status === 400) return code === "RequestTimeout"
  if (status === 501) return false
  // 417: the next attempt does not announce its body
  return isForNow(status) || status === 409 || status === 417 || status === 429
}

/** The error for a status that is a success elsewhere, but not for this request, such as a 204 to a GET. */
export const rejected = (answer: StorageAnswer, asked: SentRequest): StorageRejected =>
  new StorageRejected({ ...context(answer, asked, readErrorDocument(answer.body, asked.url)), status: answer.status })
