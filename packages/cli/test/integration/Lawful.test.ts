import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import * as SandboxServer from "@stevedore/cli/SandboxServer"
import type { Sandbox } from "@stevedore/testing"
import { Effect, Option, Predicate, Redacted } from "effect"
import * as ServiceVariation from "../../../testing/test/variation/ServiceVariation.js"
import * as Varied from "../../../testing/test/variation/varied.js"
import { invoke, jsonLines } from "./invoke.js"

const seeds = Array.from({ length: 30 }, (_, index) => index + 1)

const bytesOf = (size: number) => Uint8Array.from({ length: size }, (_, index) => (index * 31 + (index >> 5)) & 0xff)

const small = bytesOf(60)

const large = bytesOf(2000)

const serve = (variation: ServiceVariation.ServiceVariation) =>
  SandboxServer.start(
    { port: 0, storagePort: 0, directory: Option.none(), token: Option.none(), projects: 0 },
    Varied.options(variation)
  )

const commands = (sandbox: Sandbox.SandboxService, variation: ServiceVariation.ServiceVariation) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const profile = { ...ServiceVariation.profileFields(variation), limits: { minimumPartSize: 1 } }
    yield* fs.writeFileString(`${folder}/profile.json`, JSON.stringify(profile))
    yield* fs.writeFile(`${folder}/notes.txt`, small)
    yield* fs.writeFile(`${folder}/film.mp4`, large)
    const env = {
      STEVEDORE_BASE_URL: sandbox.baseUrl,
      STEVEDORE_TOKEN: Redacted.value(sandbox.token),
      STEVEDORE_PROFILE: `${folder}/profile.json`,
      XDG_STATE_HOME: `${folder}/state`
    }
    const run = (...words: ReadonlyArray<string>) => invoke(words, env)
    const well = (...words: ReadonlyArray<string>) =>
      Effect.tap(run(...words), ({ code, stderr, stdout }) => {
        assert.strictEqual(code, 0, `${words.join(" ")}\n${stdout}\n${stderr}`)
      })
    return { folder, fs, run, well }
  })

const completedId = (stdout: string): string => {
  const ids = jsonLines(stdout).flatMap((line) =>
    Predicate.hasProperty(line, "file") && Predicate.hasProperty(line.file, "id") ? [String(line.file.id)] : []
  )
  return ids.at(-1) ?? ""
}

const upload = (path: string, ...words: ReadonlyArray<string>) => ["upload", path, "--json", ...words]

const inParts = ["--strategy", "multipart", "--parts", "4"]

const everything = (variation: ServiceVariation.ServiceVariation) =>
  Effect.gen(function*() {
    const sandbox = yield* serve(variation)
    const { folder, fs, run, well } = yield* commands(sandbox, variation)
    const stored = (id: string) => sandbox.stored(id)
    const notes = completedId((yield* well(...upload(`${folder}/notes.txt`))).stdout)
    assert.deepStrictEqual(yield* stored(notes), small)
    const film = completedId((yield* well(...upload(`${folder}/film.mp4`, ...inParts))).stdout)
    assert.deepStrictEqual(yield* stored(film), large)
    yield* well("download", "--output", `${folder}/copy.mp4`, "--", film)
    assert.deepStrictEqual(new Uint8Array(yield* fs.readFile(`${folder}/copy.mp4`)), large)
    yield* well("file", "--", notes)
    const { stdout } = yield* well("projects", "--json")
    assert.lengthOf(jsonLines(stdout), variation.lists.items)
    const who = yield* run("whoami")
    assert.include([0, 1], who.code, who.stderr)
    assert.notMatch(who.stderr, /defect|at .*\.ts:/)
  })

describe("the commands at a service that keeps the interface", () => {
  for (const seed of seeds) {
    const variation = ServiceVariation.fromSeed(seed)
    it.scopedLive(`upload, download, inspect and list, whatever else it does (seed ${seed})`, () =>
      Effect.provide(everything(variation), NodeContext.layer))
  }
})
