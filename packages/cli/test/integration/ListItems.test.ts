import { Error as PlatformError, FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Option } from "effect"
import * as ListItems from "../../src/ListItems.js"
import * as Output from "../../src/Output.js"
import { Sandbox, sandbox, sinkOf } from "./invoke.js"

const silent = sinkOf(() => {})

const busy = (path: string) =>
  new PlatformError.SystemError({
    reason: "Busy",
    module: "FileSystem",
    method: "rename",
    pathOrDescriptor: path,
    cause: Object.assign(new Error("EBUSY"), { code: "EBUSY" })
  })

const options = {
  baseUrl: Option.none(),
  tokenFile: Option.none(),
  profile: Option.none(),
  allowInsecureHttp: false,
  resource: "projects",
  filter: [],
  sort: [],
  pageSize: Option.none(),
  limit: Option.some(1),
  skipInvalid: false,
  json: false
}

describe("list --resume", () => {
  it.scopedLive("replaces its checkpoint once another program lets go of it", () =>
    Effect.gen(function*() {
      const { env } = yield* Sandbox
      const fs = yield* FileSystem.FileSystem
      const place = `${yield* fs.makeTempDirectoryScoped()}/place`
      let attempts = 0
      const scanned: FileSystem.FileSystem = {
        ...fs,
        rename: (from, to) => Effect.suspend(() => attempts++ < 2 ? Effect.fail(busy(from)) : fs.rename(from, to))
      }
      yield* ListItems.run({ ...options, resume: Option.some(place) }).pipe(
        Effect.provideService(FileSystem.FileSystem, scanned),
        Effect.provide(Output.layer({ out: silent, error: silent })),
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env))))
      )
      assert.strictEqual(attempts, 3)
      assert.strictEqual(JSON.parse(yield* fs.readFileString(place)).position, 1)
    }).pipe(Effect.provide(Layer.merge(sandbox("--projects", "3"), NodeContext.layer))))
})
