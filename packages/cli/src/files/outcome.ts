import type * as Duration from "effect/Duration"
import type * as Option from "effect/Option"
import type { FileError } from "../print/reports.js"
import type * as Reports from "../print/reports.js"
import type { FileToUpload, SkipReason } from "./paths.js"

/** How one file of a command ended. */
export type Outcome =
  | {
    readonly _tag: "Uploaded"
    readonly file: FileToUpload
    readonly report: typeof Reports.Completed.Type
    readonly took: Duration.Duration
    /** In bytes, in this command. */
    readonly sent: number
    /** The bytes that storage had before this command. */
    readonly resumed: number
  }
  | {
    readonly _tag: "Skipped"
    readonly path: string
    readonly reason: SkipReason
    /** If it is at the service. */
    readonly fileId: Option.Option<string>
    /** If it was chosen, and no other entry of a directory. */
    readonly file?: FileToUpload | undefined
  }
  | { readonly _tag: "Failed"; readonly file: FileToUpload; readonly error: FileError }
  /** The command ended before it, or while it was being sent. */
  | { readonly _tag: "NotTried"; readonly file: FileToUpload }

export const pathOf = (outcome: Outcome): string => outcome._tag === "Skipped" ? outcome.path : outcome.file.path
