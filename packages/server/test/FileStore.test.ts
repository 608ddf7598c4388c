import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Effect, Layer, Redacted } from "effect"
import * as FileStore from "../src/FileStore.js"
import * as ObjectStoreDirectory from "../src/ObjectStoreDirectory.js"
import * as ObjectStoreMemory from "../src/ObjectStoreMemory.js"
import { laws } from "./support/fileStoreLaws.js"

const PART = 4

const signing = FileStore.layer({
  credential: { accessKeyId: "AKID", secretAccessKey: Redacted.make("secret"), region: "us-east-1" },
  origin: "https://files.example",
  bucket: "files"
})

const directory = Layer.unwrapScoped(
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-file-store-" })
    return ObjectStoreDirectory.layerDurable({ directory: `${folder}/store`, minimumPartSize: PART })
  })
).pipe(Layer.provide(NodeContext.layer))

laws("in memory", Layer.provide(signing, ObjectStoreMemory.layer({ minimumPartSize: PART })), PART)
laws("in a directory", Layer.provide(signing, directory), PART)
