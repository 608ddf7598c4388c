import type { summaries } from "./commands.js"

/**
 * Where each command is carried out, loaded when it runs. The build reads it too: what a command reaches from here says whether
 * it can run from the one script.
 */
export const programs = {
  upload: () => import("../Upload.js"),
  uploads: () => import("../UnfinishedUploads.js"),
  uploaded: () => import("../Uploaded.js"),
  download: () => import("../Download.js"),
  bulk: () => import("../Bulk.js"),
  limit: () => import("../Limit.js"),
  file: () => import("../Inspect.js"),
  projects: () => import("../ListItems.js"),
  list: () => import("../ListItems.js"),
  whoami: () => import("../Inspect.js"),
  doctor: () => import("../Doctor.js"),
  config: () => import("../ConfigShown.js"),
  serve: () => import("../Serve.js"),
  token: () => import("../ServiceTokens.js"),
  bucket: () => import("../ServiceBucket.js"),
  sandbox: () => import("../SandboxServer.js")
} satisfies Record<Exclude<keyof typeof summaries, "help">, () => Promise<unknown>>
