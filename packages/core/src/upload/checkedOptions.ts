import type * as Metadata from "../Metadata.js"
import type { UploadPlan } from "../UploadPlan.js"
import type { Verification } from "./resume.js"

/** The options with all defaults filled in. */
export interface CheckedOptions {
  readonly plan: UploadPlan
  readonly concurrency: number
  readonly maxSessions: number
  readonly resume: boolean
  readonly verify: Verification
  readonly onImpossible: "fail" | "continue"
  readonly unfinished: string | undefined
  readonly metadata: Metadata.Metadata | undefined
}
