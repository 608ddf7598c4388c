/** The commands, each with its summary. */
export const summaries = {
  upload: "upload files and directories",
  uploads: "list unfinished uploads",
  uploaded: "list what was uploaded",
  download: "download files",
  bulk: "upload a job of many files, on one machine or on several",
  limit: "show or change the bandwidth limit of what runs",
  file: "show the record of a file",
  projects: "list the projects",
  list: "list items of any kind",
  whoami: "show whom the token belongs to",
  doctor: "check every step of an upload, and how to fix what fails",
  config: "show the settings in force, and where they come from",
  help: "show this help, or that of a command",
  serve: "run a service that keeps its files in a directory or a bucket",
  token: "make, list and revoke tokens of your service",
  bucket: "set up or check the bucket of your service",
  sandbox: "run a local service and storage to try things out"
} as const
