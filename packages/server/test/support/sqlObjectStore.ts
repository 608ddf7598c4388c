import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import * as SqlClient from "@effect/sql/SqlClient"
import type { Scope } from "effect"
import { Context, Effect, Layer, Stream } from "effect"
import * as ObjectStore from "../../src/ObjectStore.js"
import * as SqlObjectStore from "../../src/SqlObjectStore.js"
import { Life } from "./life.js"
import { databaseIn } from "./sqlite.js"

export const bytes = (text: string) => Stream.make(new TextEncoder().encode(text))

export const opened = (directory: string, life = new Life()) =>
  Layer.build(
    Layer.provideMerge(
      SqlObjectStore.layer({ directory: `${directory}/store`, minimumPartSize: 1 }),
      databaseIn(`${directory}/index.db`)
    )
  ).pipe(
    Effect.provide(Layer.effect(
      FileSystem.FileSystem,
      Effect.map(FileSystem.FileSystem, (fs) => life.through(fs))
    )),
    Effect.map((context) => ({
      store: Context.get(context, ObjectStore.ObjectStore),
      sql: Context.get(context, SqlClient.SqlClient)
    }))
  )

export const contentOf = (store: ObjectStore.ObjectStoreService, key: string) =>
  Effect.option(store.get(key).pipe(Stream.decodeText(), Stream.mkString))

export const within = (
  run: (
    folder: string,
    fs: FileSystem.FileSystem
  ) => Effect.Effect<void, unknown, NodeContext.NodeContext | Scope.Scope>
) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-sql-store-" })
    yield* fs.makeDirectory(`${folder}/data`)
    yield* run(`${folder}/data`, fs)
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))
