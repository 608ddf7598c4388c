import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import * as Runtimes from "./support/runtimes.js"

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(`${tmpdir()}/stevedore-runtimes-`)),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

describe("a runtime does what its row in the guide says", () => {
  it.scopedLive.each(["Node", "Bun", "Deno"] as const)(
    "%s, also after it was killed",
    (runtime) =>
      Effect.gen(function*() {
        const sandbox = yield* Runtimes.sandbox
        const { baseUrl, token } = Runtimes.settingOf(sandbox)
        const start = Runtimes.runtimes[runtime]
        const answer = yield* Runtimes.answerOf([...start, yield* Runtimes.script("Process"), baseUrl, token])

        const home = yield* folder
        const content = Uint8Array.from({ length: 400_000 }, (_, index) => index % 253)
        yield* Effect.promise(() => writeFile(`${home}/file.bin`, content))
        const resuming = [
          ...start,
          yield* Runtimes.script("Resuming"),
          baseUrl,
          token,
          `${home}/file.bin`,
          `${home}/state`
        ]
        assert.include(yield* Runtimes.linesOf(resuming, (line) => line === "part 2"), "part 2")
        const before = (yield* sandbox.report).requests.length
        const lines = yield* Runtimes.linesOf(resuming)
        const fileId = /^file (.+)$/.exec(lines.at(-1) ?? "")?.[1] ?? ""
        assert.deepStrictEqual(yield* sandbox.stored(fileId), content)
        const after = (yield* sandbox.report).requests.slice(before)
        // what was told as stored is not sent again, and it is the same session
        assert.notIncludeMembers(after.map(({ part }) => part), [1, 2])
        assert.notInclude(after.map(({ operation }) => operation), "initiateLarge")

        Runtimes.assertSaid(runtime, answer, true)
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("workerd", () =>
    Effect.gen(function*() {
      const setting = Runtimes.settingOf(yield* Runtimes.sandbox)
      const configuration = yield* Runtimes.workerdConfiguration("Isolate", setting)
      const answer = yield* Runtimes.answerOf([...Runtimes.runtimes.workerd, configuration])
      Runtimes.assertSaid("workerd", answer, false)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("a fetch without streams, as React Native's", () =>
    Effect.gen(function*() {
      const { baseUrl, token } = Runtimes.settingOf(yield* Runtimes.sandbox)
      const script = yield* Runtimes.script("WithoutStreams")
      const answer = yield* Runtimes.answerOf([...Runtimes.runtimes.Node, script, baseUrl, token])
      Runtimes.assertSaid("a fetch without streams", answer, false)
    }).pipe(Effect.provide(NodeContext.layer)))
})
