import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Temporary from "../support/temporary.js"

const script = fileURLToPath(new URL("../support/fewFiles.ts", import.meta.url))
const tsconfig = fileURLToPath(new URL("../../../../tsconfig.json", import.meta.url))

const run = (directory: string) =>
  Effect.async<string>((resume) => {
    const command = `ulimit -n 200; exec "${process.execPath}" --import tsx "${script}" "${directory}"`
    execFile("bash", ["-c", command], { env: { ...process.env, TSX_TSCONFIG_PATH: tsconfig } }, (error, out, told) =>
      resume(Effect.succeed(error === null ? out : `${out}${told}`)))
  })

// Windows has no such limit
describe.skipIf(process.platform === "win32")("a process that may open no more files", () => {
  it.scopedLive(
    "waits until others are closed, for sources, folders, spools, the ledger and downloads",
    () =>
      Effect.gen(function*() {
        const out = yield* run(yield* Temporary.directory)
        const last = out.trim().split("\n").at(-1) ?? ""
        assert.deepStrictEqual(JSON.parse(last.startsWith("{") ? last : JSON.stringify(out)), {
          "a source": "done",
          "a folder": "done",
          "a spooled stream": "done",
          "an upload": "done",
          "the ledger": "done",
          "a download, keep: false": "done",
          "a download, keep: true": "done"
        })
      }),
    120_000
  )
})
