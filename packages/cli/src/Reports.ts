/** The lines of `--json`: what programs that read them can rely on. Each decodes with its Schema here. */
export { Job } from "./print/bulkReports.js"
export { CheckId, CheckReport, Diagnosis, DoctorReport, ProfileReport } from "./print/doctorReport.js"
export {
  CommandFailed,
  Completed,
  Downloaded,
  Failed,
  Failure,
  Listening,
  Progress,
  Serving,
  Unfinished,
  UploadReport
} from "./print/reports.js"
export { Limited, NotTried, Plan, Planned, Skipped, Summary, Uploaded } from "./print/uploadReports.js"
