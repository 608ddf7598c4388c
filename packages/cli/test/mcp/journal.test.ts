import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it, vi } from "@effect/vitest"
import { UploadLedger } from "@stevedore/core"
import { Effect, Layer } from "effect"
import * as Journal from "../../src/mcp/journal.js"

const begun = (id: string): Journal.Begun => ({
  id,
  service: "https://files.example",
  wish: { action: "upload", path: "/a", size: 1, dates: "1" },
  begunAt: 1
})

const live = Layer.merge(NodeContext.layer, UploadLedger.layerMemory)

describe("the journal", () => {
  it.scoped("keeps how content was proven to the end, and reads lines that do not say it", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-journal-" })
      // the directory of state is told from the environment of the process
      yield* Effect.acquireRelease(
        Effect.sync(() => vi.stubEnv("XDG_STATE_HOME", directory)),
        () => Effect.sync(() => vi.unstubAllEnvs())
      )
      const journal = yield* Journal.make
      for (const line of [begun("old"), begun("new")]) yield* journal.add(line)
      yield* journal.add({ id: "old", state: "done", at: 2, file: "1" })
      yield* journal.add({ id: "new", state: "uploaded", at: 2, file: "2", proof: "unproven" })
      yield* journal.add({ id: "new", state: "importing", at: 3, file: "2" })
      yield* journal.add({ id: "new", state: "done", at: 4, file: "2" })
      const text = yield* fs.readFileString((yield* Path.Path).join(directory, "stevedore", "agents.jsonl"))
      assert.strictEqual(text.split("proof").length, 2)
      const { known } = yield* Journal.make
      for (const all of [yield* journal.known, yield* known]) {
        assert.deepStrictEqual(
          [...all.values()].map(({ begun: { id }, reached }) => [id, reached?.state, reached?.proof]),
          [["old", "done", undefined], ["new", "done", "unproven"]]
        )
      }
    }).pipe(Effect.provide(live)))
})
