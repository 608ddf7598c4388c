import { Effect, Fiber, Option, Redacted, Scope, Stream, TestClock } from "effect"
import type { Principal } from "../../src/Authorize.js"
import * as FileStore from "../../src/FileStore.js"
import * as FileTable from "../../src/FileTable.js"
import * as FileTableMemory from "../../src/FileTableMemory.js"
import * as Hooks from "../../src/Hooks.js"
import * as ObjectStore from "../../src/ObjectStore.js"
import * as BlobStore from "../../src/parts/blobStore.js"
import * as Uploads from "../../src/Uploads.js"
import { receiving } from "./fileTableLaws.js"
import { Life } from "./life.js"

export const ann: Principal = { tenant: "acme", id: "ann", name: "Ann", scopes: ["read", "write"] }

export const bytes = (text: string) => Stream.make(new TextEncoder().encode(text))

export const declared = { name: "notes.txt", type: "text/plain", size: 6 }

/** The world: a table and a store that outlive every instance. */
export const makeWorld = () => {
  const table = Effect.runSync(receiving(FileTableMemory.make()))
  const store = FileStore.signed(ObjectStore.make(BlobStore.memory, { minimumPartSize: 1 }), {
    credential: { accessKeyId: "AKID", secretAccessKey: Redacted.make("secret"), region: "us-east-1" },
    origin: "http://storage.test",
    bucket: "files"
  })
  return { table, store }
}

export type World = ReturnType<typeof makeWorld>

export const instance = (
  world: World,
  options: { readonly life?: Life; readonly hooks?: Partial<Hooks.HooksService>; readonly uploads?: Uploads.Options } =
    {}
) => {
  const life = options.life ?? new Life()
  return Effect.flatMap(Scope.make(), (scope) =>
    Uploads.make(options.uploads).pipe(
      Effect.provideService(FileTable.FileTable, life.through(world.table)),
      Effect.provideService(FileStore.FileStore, life.through(world.store)),
      Effect.provideService(Hooks.Hooks, { ...Hooks.none, ...options.hooks }),
      Scope.extend(scope),
      Effect.map((uploads) => ({ ...uploads, scope }))
    ))
}

export const put = ({ store }: World, fileId: string, text = "abcdef", tenant = "acme") =>
  store.put(`files/${tenant}/${fileId}`, bytes(text))

export const parts = ({ store }: World, fileId: string, uploadId: string) =>
  Effect.forEach(
    ["abc", "def"],
    (text, index) => store.putPart(`files/acme/${fileId}`, uploadId, index + 1, bytes(text))
  )

export const eventsOf = ({ table }: World) =>
  Effect.map(table.events(60_000, 1000, FileTable.KINDS), (events) => events.map(({ id }) => id))

/** The answer while the clock goes on, as if waiting took no time. */
export const soon = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    for (let turn = 0; turn < 400; turn++) {
      if (Option.isSome(yield* Fiber.poll(fiber))) break
      yield* TestClock.adjust("250 millis")
    }
    return yield* Fiber.join(fiber)
  })

/** How many events an instance has on a way, if it lives. */
export const eventsOn = (way: (world: World, life: Life) => Effect.Effect<unknown>) =>
  Effect.gen(function*() {
    const life = new Life()
    yield* way(makeWorld(), life)
    return life.events
  })
