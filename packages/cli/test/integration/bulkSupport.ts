import { FileSystem } from "@effect/platform"
import { assert } from "@effect/vitest"
import * as SandboxServer from "@stevedore/cli/SandboxServer"
import type { SandboxOptions } from "@stevedore/testing"
import { Effect, Option, Redacted, Schema } from "effect"
import { Job } from "../../src/print/serviceSchemas.js"
import { jsonLines } from "./invoke.js"

/** A sandbox in this process, files for it, and the environment of commands that upload them. */
export const prepared = (count: number, behaviour: Partial<SandboxOptions.Options> = {}) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const sandbox = yield* SandboxServer.start(
      { port: 0, storagePort: 0, directory: Option.none(), token: Option.none(), projects: 0 },
      behaviour
    )
    const folder = yield* fs.makeTempDirectoryScoped()
    const names = Array.from({ length: count }, (_, index) => `file-${String(index).padStart(3, "0")}.bin`)
    yield* fs.makeDirectory(`${folder}/files`)
    yield* Effect.forEach(names, (name) => fs.writeFileString(`${folder}/files/${name}`, name), { discard: true })
    return {
      folder,
      files: `${folder}/files`,
      names,
      sandbox,
      env: {
        STEVEDORE_BASE_URL: sandbox.baseUrl,
        STEVEDORE_TOKEN: Redacted.value(sandbox.token),
        XDG_STATE_HOME: `${folder}/state`
      },
      /** Each of the files is there once, and the service saw nothing that it does not allow. */
      proof: Effect.gen(function*() {
        const there = (yield* sandbox.files).map(({ name }) => String(name)).sort()
        assert.deepStrictEqual(there, names)
        assert.deepStrictEqual((yield* sandbox.report).breaches, [])
      }),
      there: Effect.map(sandbox.files, (files) => files.length)
    }
  })

export const jobs = (stdout: string): ReadonlyArray<typeof Job.Type> =>
  jsonLines(stdout).map((line) => Schema.decodeUnknownSync(Job)(line))
