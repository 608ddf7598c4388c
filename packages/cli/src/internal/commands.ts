/**
 * The commands, each with its summary.
 *
 * @internal
 */
export const summaries = {
  upload: "files go up",
  uploads: "what was cut off and can go on",
  download: "a file comes down",
  file: "the record of a file",
  projects: "the projects",
  list: "any list of the service",
  whoami: "whom the token stands for",
  doctor: "what works between here and storage, and what does not",
  sandbox: "the service on this machine, to try things on"
} as const
