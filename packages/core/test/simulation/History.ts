import type { UploadError, UploadOptions, Uploads } from "@stevedore/core"
import type { Meaning } from "./Faults.js"

/** Where in a history something stands: `step` orders what happens at the same time. In true time, in milliseconds. */
export interface Moment {
  readonly step: number
  readonly at: number
}

export type Operation =
  | "initiate"
  | "initiateLarge"
  | "complete"
  | "completeLarge"
  | "file"
  | "download"
  | "put"
  | "other"

/** What the client was told, as far as it matters to the laws. */
export interface Told extends Moment {
  readonly status: number
  readonly kind: string
  readonly meaning: Meaning | undefined
  /** Of a stored part. */
  readonly etag?: string | undefined
  /** In milliseconds. */
  readonly retryAfter?: number | undefined
}

/** One request, from its start until nothing of it is left. */
export interface Exchange {
  readonly id: number
  readonly life: number
  readonly operation: Operation
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The name of the source that it is for. */
  readonly name: string | undefined
  readonly fileId: string | undefined
  readonly part: number | undefined
  /** What a Complete lists. */
  readonly listed: ReadonlyArray<{ readonly partNumber: number; readonly etag: string }> | undefined
  readonly started: Moment
  readonly trouble: string | undefined
  /** When the server had all of it. */
  arrived?: Moment
  told?: Told
  /** The system's code when the connection broke. */
  broke?: Moment & { readonly code: string }
  ended?: Moment & { readonly by: "answer" | "break" | "client" | "kill" }
  /** No packet gets through any more, and nobody knows. */
  isCut?: boolean
}

/** Bytes that storage took. */
export interface Write extends Moment {
  readonly exchange: number
  readonly fileId: string
  readonly part: number
  readonly etag: string
  readonly length: number
  readonly late: boolean
}

export interface Session {
  readonly fileId: string
  readonly uploadId: string | undefined
  readonly name: string
  readonly size: number
  readonly parts: number
  readonly life: number
  readonly opened: Moment
  /** In the server's time. */
  readonly deadline: number
  finalized?: Moment
  /** The service ended it. */
  ended?: Moment
  content?: Uint8Array
}

export interface Look extends Moment {
  readonly confirmed: number
  readonly sent: number
  readonly size: number
  readonly phase: string
  readonly parts: { readonly total: number; readonly confirmed: number }
}

export type Outcome =
  | { readonly _tag: "Uploaded"; readonly file: Uploads.UploadedFile }
  | { readonly _tag: "Failed"; readonly error: UploadError.UploadError }
  | { readonly _tag: "Interrupted" }
  | { readonly _tag: "Died"; readonly cause: string }

/** One upload in one life of the process. */
export interface Run {
  readonly life: number
  readonly name: string
  readonly options: UploadOptions.UploadOptions
  readonly started: Moment
  readonly looks: Array<Look>
  readonly events: Array<string>
  paused?: Moment
  resumed?: Moment
  interrupted?: Moment
  settled?: Moment
  outcome?: Outcome
}

/** A version of a source, from a moment on. */
export interface Version extends Moment {
  readonly content: Uint8Array
  /** Whether size, date or identity tell of it. */
  readonly isVisible: boolean
  readonly trouble: string | undefined
}

export interface SourceCheck extends Moment {
  readonly life: number
  readonly name: string
  readonly isUnchanged: boolean
}

export interface SourceRead extends Moment {
  readonly life: number
  readonly name: string
  readonly offset: number
  readonly length: number
}

/** A lock that a life took. */
export interface Taking extends Moment {
  readonly life: number
  readonly id: string
}

/** A write into the ledger's store. */
export interface Entry extends Moment {
  readonly life: number
  readonly key: string
}

/** What the ledger held of an upload when a life began. */
export interface Remembered {
  readonly id: string
  readonly name: string
  readonly fileId: string
  readonly phase: string
  readonly hasUrls: boolean
  /** In the server's time; the first to end. */
  readonly deadline: number | undefined
  readonly startedAt: number
  readonly parts: number
  readonly receipts: ReadonlyMap<number, string>
}

export interface Life {
  readonly number: number
  readonly started: Moment
  readonly remembered: ReadonlyArray<Remembered>
  frozen?: Moment
  ended?: Moment & { readonly by: "end" | "kill" }
  /** What is left of it when everything has ended. */
  left?: { readonly connections: number; readonly waits: number; readonly handles: number; readonly locks: number }
  /** It cannot end any more. */
  hangs?: string
}

/** Everything that happened. */
export interface History {
  readonly exchanges: Array<Exchange>
  readonly writes: Array<Write>
  readonly sessions: Map<string, Session>
  readonly runs: Array<Run>
  readonly lives: Array<Life>
  /** Of each source, by its name; the first is the one that it begins with. */
  readonly versions: Map<string, Array<Version>>
  readonly checks: Array<SourceCheck>
  readonly reads: Array<SourceRead>
  /** Each line that was logged, and whatever else people may see. */
  readonly printed: Array<{ readonly where: string; readonly text: string }>
  /** What an upload held in memory of its source, each time that it had read more. */
  readonly held: Array<Moment & { readonly name: string; readonly life: number; readonly bytes: number }>
  readonly troubles: Map<string, number>
  readonly locks: Array<Taking>
  readonly entries: Array<Entry>
  /** True times at which the wall clock jumped, the computer slept, or a process was frozen. */
  readonly jumps: Array<Moment & { readonly millis: number; readonly slept: boolean }>
}
