import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import * as Reports from "@stevedore/cli/Reports"
import { Effect, Schema, Stream } from "effect"
import { invoke } from "./invoke.js"
import { start } from "./stevedore.js"

describe("stevedore serve", () => {
  it.scopedLive(
    "says where it is and with which token, and leaves its directory to the next one",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        const running = yield* start(["serve", "--port", "0", "--directory", "data", "--json"], { cwd: folder })
        const first = yield* Effect.flatten(Stream.runHead(running.lines))
        const { api, profile, token } = yield* Schema.decode(Schema.parseJson(Reports.Serving))(first)
        const env = { STEVEDORE_BASE_URL: api, STEVEDORE_TOKEN: token, STEVEDORE_PROFILE: profile }
        const { code, stderr } = yield* invoke(["whoami"], env)
        assert.strictEqual(code, 0, stderr)
        running.child.kill("SIGTERM")
        yield* running.ended
        assert.isFalse(yield* fs.exists(`${folder}/data/lock`))
      }).pipe(Effect.provide(NodeContext.layer)),
    300_000
  )
})
