import { Command, FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { FaultScript, type Sandbox } from "@stevedore/testing"
import { Effect, Redacted, Stream } from "effect"
import { fileURLToPath } from "node:url"
import * as SampleFiles from "../../src/SampleFiles.js"
import * as Servers from "../Servers.js"

const fromRoot = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url))

const text = <E>(stream: Stream.Stream<Uint8Array, E>) => Stream.mkString(Stream.decodeText(stream))

// Runs the file as a user would: in the recording's directory, configured by the environment.
const run = (directory: string, sandbox: Sandbox.SandboxService) =>
  Effect.scoped(Effect.gen(function*() {
    const running = yield* Command.make(
      process.execPath,
      fromRoot("node_modules/tsx/dist/cli.mjs"),
      "--tsconfig",
      fromRoot("tsconfig.json"),
      fromRoot("packages/examples/src/UploadFile.ts")
    ).pipe(
      Command.workingDirectory(directory),
      Command.env({
        STEVEDORE_BASE_URL: sandbox.baseUrl,
        STEVEDORE_TOKEN: Redacted.value(sandbox.token),
        // writes nothing to the home directory of the user who runs the tests
        HOME: directory,
        XDG_STATE_HOME: directory,
        LOCALAPPDATA: directory
      }),
      Command.start
    )
    const [output, errors, code] = yield* Effect.all(
      [text(running.stdout), text(running.stderr), running.exitCode],
      { concurrency: 3 }
    )
    return { output: output + errors, code: Number(code) }
  }))

const prepared = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const directory = yield* fs.makeTempDirectoryScoped()
  return { fs, directory, recording: path.join(directory, "interview.mp4") }
})

describe("UploadFile", () => {
  it.scopedLive("the recording goes up whole, and its id is told", () =>
    Effect.gen(function*() {
      const { directory, fs, recording } = yield* prepared
      const sandbox = yield* Servers.sandbox()
      yield* SampleFiles.write(recording, { seed: "interview", size: 3_000_000 })
      const { code, output } = yield* run(directory, sandbox)
      assert.strictEqual(code, 0, output)
      const fileId = /interview\.mp4 is (\S+)/.exec(output)?.[1] ?? ""
      assert.deepStrictEqual(yield* sandbox.stored(fileId), new Uint8Array(yield* fs.readFile(recording)))
      assert.deepStrictEqual((yield* sandbox.report).breaches, [])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("a recording over 10 GB is refused before any request, with its size and the limit", () =>
    Effect.gen(function*() {
      const { directory, fs, recording } = yield* prepared
      const sandbox = yield* Servers.sandbox()
      yield* fs.writeFile(recording, new Uint8Array(1))
      yield* fs.truncate(recording, 10_000_000_001)
      const { output } = yield* run(directory, sandbox)
      assert.include(output, "10000000001 bytes; at most 10000000000")
      assert.deepStrictEqual((yield* sandbox.report).requests, [])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("a failure that is not handled ends the process with its message, without the token or a signature", () =>
    Effect.gen(function*() {
      const { directory, recording } = yield* prepared
      const sandbox = yield* Servers.sandbox({ faults: FaultScript.on("put").answer(403, "SignatureDoesNotMatch") })
      yield* SampleFiles.write(recording, { seed: "interview", size: 1000 })
      const { code, output } = yield* run(directory, sandbox)
      assert.strictEqual(code, 1, output)
      assert.include(output, "SignatureMismatch403")
      assert.notInclude(output, Redacted.value(sandbox.token))
      assert.notMatch(output, /X-Amz-(Signature|Credential)/i)
    }).pipe(Effect.provide(NodeContext.layer)))
})
