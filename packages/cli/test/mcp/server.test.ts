import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import * as SandboxLayer from "@stevedore/testing/SandboxLayer"
import { Effect, Layer } from "effect"
import { directories, opened } from "../support/mcpSession.js"

const live = Layer.mergeAll(NodeContext.layer, Layer.orDie(SandboxLayer.memory()))

const started = Effect.gen(function*() {
  const { downloads, root, roots } = yield* directories
  const { writeFileString } = yield* FileSystem.FileSystem
  const { join } = yield* Path.Path
  const one = yield* opened(roots)
  const call = (id: number, name: string, args?: object) =>
    Effect.map(
      one.ask(id, "tools/call", { name, ...(args === undefined ? {} : { arguments: args }) }),
      ({ result }): Readonly<Record<string, unknown>> => ({
        ...result?.structuredContent,
        text: result?.content?.[0]?.text,
        isError: result?.isError
      })
    )
  return { ...one, call, downloads, write: (name: string) => writeFileString(join(root, name), `content of ${name}`) }
})

describe("a session", () => {
  it.scopedLive("refuses in words that a model can act on", () =>
    Effect.gen(function*() {
      const { answers, ask, call, greet, tell } = yield* started
      yield* greet
      yield* tell("notifications/initialized")
      const wrong: ReadonlyArray<readonly [name: string, args: object | undefined, reason: string]> = [
        ["uplod", {}, "There is no tool uplod (did you mean upload?)"],
        ["file", { fileId: "1" }, "There is no argument fileId (did you mean file_id?); file_id is missing"],
        ["upload", undefined, "path is missing"],
        ["upload", { path: 7, bogus: 1 }, "There is no argument bogus; path is to be text"],
        ["upload", { path: "a", again: "yes" }, "again is to be true or false"],
        ["upload_status", { id: "a", wait: 1_000 }, "wait is to be a number from 0 to 20"],
        ["doctor", { all: true }, "There is no argument all"],
        ["upload_status", { id: "upload-none" }, "There is no transfer upload-none"],
        ["upload", { path: "../x" }, "../x leads up by \"..\""],
        ["file", { file_id: "0000000000000000000000" }, ""]
      ]
      for (const [index, [name, args, reason]] of wrong.entries()) {
        const answer = yield* call(index, name, args)
        assert.isTrue(answer["isError"], name)
        assert.include(["input", "refused"], answer["kind"])
        assert.isNotEmpty(answer["next"])
        assert.strictEqual(answer["text"], `${answer["reason"]}. ${answer["next"]}`)
        if (reason !== "") assert.strictEqual(answer["reason"], reason)
      }
      const { result } = yield* ask("list", "tools/list")
      const all = JSON.stringify([answers, result])
      for (const word of ["Expected", "actual", "_tag", "between(", "$ref", "Defect"]) assert.notInclude(all, word)
    }).pipe(Effect.provide(live)))

  it.scopedLive("answers a method that it does not have with -32601, and a notification of none with nothing", () =>
    Effect.gen(function*() {
      const { answers, ask, greet, tell } = yield* started
      yield* greet
      yield* tell("notifications/initialized")
      const before = answers.length
      yield* tell("notifications/of_nobody")
      const { error } = yield* ask("none", "tools/nothing")
      assert.strictEqual(error?.code, -32601)
      assert.lengthOf(answers, before + 1)
    }).pipe(Effect.provide(live)))
})
