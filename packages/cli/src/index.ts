export * as Reports from "./Reports.js"

export * as SandboxServer from "./SandboxServer.js"
