/** The lines of `--json`: what programs that read them can rely on. Each decodes with its Schema here. */
export {
  /** A line of `bulk`: how far a job is. */
  Job
} from "./print/bulkReports.js"

export {
  /** The names of the checks of `doctor`, in order. */
  CheckId,
  /** A line of `doctor`: how a check ended. */
  CheckReport,
  /** The last line of `doctor`. */
  Diagnosis,
  /** A line of `doctor`. */
  DoctorReport,
  /** What `doctor --write-profile` has found out. */
  ProfileReport
} from "./print/doctorReport.js"

export {
  /** The last line of standard error of every command that does not exit with 0. */
  CommandFailed,
  /** The last line of an upload that succeeded. */
  Completed,
  /** The line of `download`. */
  Downloaded,
  /** The last line of a file that failed. */
  Failed,
  /** A failure: its `_tag`, its kind, its fields, and its message, which names the next step. */
  Failure,
  /** The first line of `sandbox`. */
  Listening,
  /** The progress of an upload, at most once per second. */
  Progress,
  /** The first line of `serve`. */
  Serving,
  /** A line of `uploads`. */
  Unfinished,
  /** A line of `upload`. */
  UploadReport
} from "./print/reports.js"

export {
  /** A line of `limit`: a command that runs. */
  Limited,
  /** A file that was not tried, because the command was stopped. */
  NotTried,
  /** The last line of `upload --dry-run`. */
  Plan,
  /** A file that `upload --dry-run` would send. */
  Planned,
  /** A file that was skipped, and why. */
  Skipped,
  /** The last line of `upload`, and of a `download` of several files. */
  Summary,
  /** A line of `uploaded`. */
  Uploaded
} from "./print/uploadReports.js"
