import type { Settings } from "../SandboxOptions.js"

export type Call =
  | "initiateUpload"
  | "completeUpload"
  | "initiateLargeUpload"
  | "completeLargeUpload"
  | "file"
  | "download"
  | "tokenInfo"
  | "importFile"
  | "list"

/** Which call of the service a request is. @internal */
export interface Route {
  readonly call: Call
  /** As the client knows it; empty if the call is not about a file. */
  readonly fileId: string
  /** The path of the same call of another file. */
  readonly pathOf: (fileId: string) => string
  readonly search: URLSearchParams
}

const METHODS: Readonly<Record<Exclude<Call, "list">, "GET" | "POST">> = {
  initiateUpload: "POST",
  completeUpload: "POST",
  initiateLargeUpload: "POST",
  completeLargeUpload: "POST",
  file: "GET",
  download: "GET",
  tokenInfo: "GET",
  importFile: "POST"
}

const calls = [
  "initiateUpload",
  "completeUpload",
  "initiateLargeUpload",
  "completeLargeUpload",
  "tokenInfo",
  "importFile",
  "download",
  "file"
] as const

const LIST = /^\/v1\/[^?]+$/

export const find = (
  { apiBasePath, paths }: Settings,
  request: { readonly method: string; readonly url: string }
): Route | undefined => {
  const [path = "", ...rest] = request.url.split("?")
  const search = new URLSearchParams(rest.join("?"))
  for (const call of calls) {
    const [before = "", after] = `${apiBasePath}${paths[call]}`.split("{file_id}")
    const isThere = METHODS[call] === request.method && (after === undefined
      ? path === before
      : path.startsWith(before) && path.endsWith(after) && path.length > before.length + after.length)
    const id = after === undefined ? "" : path.slice(before.length, path.length - after.length)
    if (isThere && !id.includes("/")) {
      return {
        call,
        fileId: decodeURIComponent(id),
        pathOf: (fileId) => after === undefined ? path : `${before}${encodeURIComponent(fileId)}${after}`,
        search
      }
    }
  }
  return request.method === "GET" && LIST.test(path.slice(apiBasePath.length))
    ? { call: "list", fileId: "", pathOf: () => path, search }
    : undefined
}
