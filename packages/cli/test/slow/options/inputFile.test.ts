import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { commands } from "../../../src/line/commands.js"
import * as Settings from "../../../src/line/settings.js"

const readConfigFile = (path: string) =>
  Effect.map(Settings.read({ path, named: true }, commands), ({ variables }) => variables)

describe.skipIf(process.platform === "win32")("the text of an input file", () => {
  it.scopedLive("of a pipe is waited for as long as somebody may write to it, and that of a device not at all", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const pipe = `${yield* fs.makeTempDirectoryScoped()}/config.json`
      execFileSync("mkfifo", [pipe])
      const writing = spawn("sh", [
        "-c",
        `sleep 0.3; exec > "$0"; printf '{ "base'; sleep 0.3; printf 'Url": "x" }'`,
        pipe
      ])
      yield* Effect.addFinalizer(() => Effect.sync(() => writing.kill()))
      assert.deepStrictEqual(yield* readConfigFile(pipe), { STEVEDORE_BASE_URL: "x" })
      const [took, error] = yield* Effect.timed(Effect.flip(readConfigFile(pipe)))
      assert.include(error.message, `${pipe} is a pipe, and nobody writes to it`)
      assert.isBelow(Duration.toSeconds(took), 30)
      assert.include((yield* Effect.flip(readConfigFile("/dev/zero"))).message, "/dev/zero is a device")
    }).pipe(Effect.provide(NodeContext.layer)))
})
