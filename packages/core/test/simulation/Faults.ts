/** What an answer of storage allows the client to do next. */
export type Meaning = "stored" | "there" | "again" | "once" | "slowDown" | "newSession" | "never" | "damaged"

/** A row of the table of answers to a PUT. */
export interface StorageRow {
  readonly status: number
  readonly code?: string
  readonly meaning: Meaning
  readonly headers?: Readonly<Record<string, string>>
  /** Instead of an error document. */
  readonly body?: string
  /** More elements of the error document. */
  readonly elements?: (serverNow: number) => string
}

const at = (millis: number): string => new Date(millis).toISOString()

const html = "<html><body><h1>Bad Gateway</h1></body></html>"

/** Every row of the table of answers, by the name that the coverage is reported under. */
export const storageRows = {
  "301 PermanentRedirect": {
    status: 301,
    code: "PermanentRedirect",
    meaning: "never",
    headers: { location: "https://elsewhere.test/" }
  },
  "307 TemporaryRedirect": {
    status: 307,
    code: "TemporaryRedirect",
    meaning: "never",
    headers: { location: "https://elsewhere.test/" }
  },
  "400 RequestTimeout": { status: 400, code: "RequestTimeout", meaning: "again" },
  "400 IncompleteBody": { status: 400, code: "IncompleteBody", meaning: "once" },
  "400 EntityTooSmall": { status: 400, code: "EntityTooSmall", meaning: "never" },
  "400 EntityTooLarge": { status: 400, code: "EntityTooLarge", meaning: "never" },
  "400 ExpiredToken": { status: 400, code: "ExpiredToken", meaning: "newSession" },
  "400 TokenRefreshRequired": { status: 400, code: "TokenRefreshRequired", meaning: "newSession" },
  "400 InvalidToken": { status: 400, code: "InvalidToken", meaning: "newSession" },
  "400 InvalidRequest": { status: 400, code: "InvalidRequest", meaning: "never" },
  "400 InvalidArgument": { status: 400, code: "InvalidArgument", meaning: "never" },
  "403 expired": {
    status: 403,
    code: "AccessDenied",
    meaning: "newSession",
    elements: (now) =>
      `<Message>Request has expired</Message><Expires>${at(now - 1000)}</Expires><ServerTime>${at(now)}</ServerTime>`
  },
  "403 HeadersNotSigned": {
    status: 403,
    code: "AccessDenied",
    meaning: "never",
    elements: () => "<HeadersNotSigned>x-amz-acl</HeadersNotSigned>"
  },
  "403 AccessDenied": { status: 403, code: "AccessDenied", meaning: "never" },
  "403 SignatureDoesNotMatch": { status: 403, code: "SignatureDoesNotMatch", meaning: "never" },
  "403 RequestTimeTooSkewed": { status: 403, code: "RequestTimeTooSkewed", meaning: "newSession" },
  "403 InvalidAccessKeyId": { status: 403, code: "InvalidAccessKeyId", meaning: "newSession" },
  "403 unreadable": { status: 403, meaning: "never", body: "Forbidden by a proxy" },
  "404 NoSuchUpload": { status: 404, code: "NoSuchUpload", meaning: "never" },
  "409 OperationAborted": { status: 409, code: "OperationAborted", meaning: "again" },
  "411 MissingContentLength": { status: 411, code: "MissingContentLength", meaning: "never" },
  "412 PreconditionFailed": { status: 412, code: "PreconditionFailed", meaning: "never" },
  "429 SlowDown": { status: 429, code: "SlowDown", meaning: "slowDown" },
  "500 InternalError": { status: 500, code: "InternalError", meaning: "again" },
  "501 NotImplemented": { status: 501, code: "NotImplemented", meaning: "never" },
  "502 HTML": { status: 502, meaning: "again", body: html },
  "503 SlowDown": { status: 503, code: "SlowDown", meaning: "slowDown" },
  "503 nothing": { status: 503, meaning: "again", body: "" },
  "504 nothing": { status: 504, meaning: "again", body: "" },
  "200 Error": { status: 200, code: "InternalError", meaning: "again", headers: { etag: "\"too-early\"" } }
} as const satisfies Readonly<Record<string, StorageRow>>

export type StorageRowName = keyof typeof storageRows

/** What happens to a PUT on its way, by the name that the coverage is reported under. */
export const putTroubles = [
  "connection refused",
  "name not found",
  "name service down",
  "connect timed out",
  "reset before the body",
  "reset in the body",
  "reset after the body, not stored",
  "reset after the body, stored",
  "keep-alive closed",
  "stall before the body",
  "stall in the body",
  "stall before the answer, not stored",
  "stall before the answer, stored",
  "lands late",
  "lands late after a reset",
  "duplicated",
  "slow answer",
  "partial body",
  "answer cut off",
  "etag missing",
  "bytes damaged"
] as const

export type PutTrouble = typeof putTroubles[number] | StorageRowName

/** What happens to a call of the service. */
export const callTroubles = [
  "connection refused",
  "name not found",
  "reset before it arrived",
  "answer lost",
  "no answer, not done",
  "no answer, done",
  "slow answer",
  "answer cut off",
  "307",
  "400",
  "401",
  "403",
  "404",
  "409",
  "422",
  "429",
  "500",
  "500 done",
  "502 HTML",
  "503",
  "504 done",
  "no JSON",
  "wrong shape",
  "wrong number of URLs"
] as const

export type CallTrouble = typeof callTroubles[number]

/** What happens to a source. */
export const sourceTroubles = [
  "truncated",
  "appended",
  "replaced",
  "overwritten",
  "overwritten unseen",
  "removed",
  "unreadable",
  "short stream",
  "long stream",
  "broken stream"
] as const

export type SourceTrouble = typeof sourceTroubles[number]

export const storageRowNames: ReadonlyArray<StorageRowName> = Object.keys(storageRows).filter(
  (name): name is StorageRowName => name in storageRows
)

export const isStorageRow = (trouble: string): trouble is StorageRowName => trouble in storageRows

export const everyPutTrouble: ReadonlyArray<PutTrouble> = [...putTroubles, ...storageRowNames]

/** What a client that does everything right gets over, when it does not last. */
export const passingPutTroubles: ReadonlyArray<PutTrouble> = everyPutTrouble.filter((trouble) =>
  isStorageRow(trouble)
    ? storageRows[trouble].meaning === "again" || storageRows[trouble].meaning === "slowDown" ||
      storageRows[trouble].meaning === "once"
    : trouble !== "etag missing" && trouble !== "duplicated"
)

export const passingCallTroubles: ReadonlyArray<CallTrouble> = [
  "connection refused",
  "name not found",
  "429",
  "slow answer"
]
