import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { quotations } from "../../../core/test/fixtures/quotations.js"
import { type Asked, json, serving } from "./plainService.js"

const token = "api.0ne-token-that-n0body-may-see"
const signature = "51gnature0f0neUrlThatN0bodyMaySee"

/** Every file that a command has written, with what is in it. */
const written = (folder: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const entries = yield* fs.readDirectory(folder, { recursive: true })
    const files = yield* Effect.filter(
      entries.map((entry) => `${folder}/${entry}`),
      (path) => Effect.map(fs.stat(path), ({ type }) => type === "File")
    )
    return yield* Effect.forEach(files, (path) => Effect.map(fs.readFileString(path), (text) => ({ path, text })))
  })

const commands = (file: string, folder: string): ReadonlyArray<ReadonlyArray<string>> => [
  ["upload", file, "--report", `${folder}/report.jsonl`, "--log-level", "debug"],
  ["upload", file, "--json", "--strategy", "multipart"],
  ["uploads", "--json"],
  ["uploaded", "--json"],
  ["file", "f1", "--json"],
  ["download", "f1", "--output", `${folder}/back`],
  ["projects", "--json"],
  ["doctor", "--json"]
]

describe("a service that quotes the token and a signature in its refusals", () => {
  it.scopedLive.each(Object.entries(quotations))(
    "has none of them shown or written by any command: %s",
    ([, quoted]) =>
      Effect.gen(function*() {
        const quotation = `${quoted(token)} ${quoted(signature)}`
        const url = (at: number, host: string | undefined) => `http://${host}/put/${at}?X-Amz-Signature=${signature}`
        const refuse = ({ path, request, response }: Asked): boolean => {
          if (path === "/v2/files/upload") {
            return json(response, 201, JSON.stringify({ data: { id: "f1", upload_url: url(1, request.headers.host) } }))
          }
          if (path === "/v2/files/large-upload") {
            const urls = [url(1, request.headers.host)]
            return json(response, 201, JSON.stringify({ data: { id: "f1", upload_id: "u", urls } }))
          }
          if (path.startsWith("/put/")) return false
          response.setHeader("x-request-id", quoted(token).replaceAll(/[^ -~]/g, ""))
          return json(
            response,
            400,
            JSON.stringify({ errors: [{ code: "Refused", title: quotation, path: [quotation] }] })
          )
        }
        const { file, folder, run } = yield* serving(refuse, token)
        const shown: Array<string> = []
        const ofUploads: Array<string> = []
        for (const words of commands(file, folder)) {
          const { stderr, stdout } = yield* run(...words)
          shown.push(stdout, stderr)
          // no other command was given the URL, so that it could know the signature again
          if (words[0] === "upload") ofUploads.push(stdout, stderr)
        }
        assert.isTrue(shown.some((text) => text.includes("Refused")))
        const files = yield* written(folder)
        assert.isTrue(files.some(({ path }) => path.endsWith("report.jsonl")))
        for (const text of [...shown, ...files.map(({ text }) => text)]) {
          for (const secret of [token, quoted(token)]) assert.notInclude(text, secret)
        }
        // the ledger has the URLs of what can be resumed, where only its owner can read them
        const beside = files.filter(({ text }) => !text.includes("/put/"))
        for (const text of [...ofUploads, ...beside.map(({ text }) => text)]) {
          for (const secret of [signature, quoted(signature)]) assert.notInclude(text, secret)
        }
      }).pipe(Effect.provide(NodeContext.layer)),
    60_000
  )
})
