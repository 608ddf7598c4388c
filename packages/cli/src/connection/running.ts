import * as FileSystem from "@effect/platform/FileSystem"
import * as DiskLedger from "@stevedore/node/DiskLedger"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Limited } from "../print/schemas.js"

/** What a running command says of itself. */
export const Running = Limited.omit("type").annotations({ identifier: "Running" })

export type Running = typeof Running.Type

const decode = Schema.decodeUnknownEither(Schema.parseJson(Running))

const encode = Schema.encodeSync(Schema.parseJson(Running))

/** A command that runs, and the name of what it says of itself. */
export interface Named {
  readonly name: string
  readonly running: Running
}

/**
 * What running commands say of themselves, and what they are told: in the state directory, where each has a file that only
 * it writes (`.json`), and beside it one for what it is told (`.limit`), which it renames when it takes it (`.taken`) and
 * removes once it says that it has done it. Told something else meanwhile, it finds that the next time.
 */
export interface Register {
  readonly say: (named: Named) => Effect.Effect<void>
  /** Does what the command was told since it last did so, if it was told anything. */
  readonly take: (name: string, change: (limit: string) => Effect.Effect<void>) => Effect.Effect<void>
  readonly leave: (name: string) => Effect.Effect<void>
  /** Every command that runs. What killed commands have left is removed. */
  readonly all: Effect.Effect<ReadonlyArray<Named>>
  readonly tell: (name: string, limit: string) => Effect.Effect<void>
  /** Whether the command has still to do what it was told. */
  readonly isTold: (name: string) => Effect.Effect<boolean>
}

const folder = "running"

// Signal 0 only asks; a process of another user is there, too
const isAlive = (pid: number): boolean =>
  Either.match(Either.try({ try: () => process.kill(pid, 0), catch: (error) => error }), {
    onLeft: (error) => error instanceof Error && "code" in error && error.code === "EPERM",
    onRight: () => true
  })

/**
 * The register of this user. None where there is no state directory, or others can enter it: then a command cannot be
 * changed while it runs.
 */
export const register: Effect.Effect<Option.Option<Register>, never, FileSystem.FileSystem> = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const found = yield* DiskLedger.privateDirectory
  if (Option.isNone(found)) return Option.none<Register>()
  const directory = found.value
  if (Option.isNone(yield* Effect.option(directory.checked))) return Option.none<Register>()
  const pathOf = (name: string) => directory.pathOf(`${folder}/${name}`)
  const remove = (name: string) => Effect.ignore(fs.remove(pathOf(name), { force: true }))
  const write = (name: string, text: string) =>
    Effect.ignore(
      Effect.flatMap(directory.writeAside(text), (aside) =>
        Effect.zipRight(directory.makeDirectory(folder), fs.rename(aside, pathOf(name))))
    )
  const isThere = (name: string) => Effect.orElseSucceed(fs.exists(pathOf(name)), () => false)
  const leave = (name: string) =>
    Effect.forEach(["json", "limit", "taken"], (kind) => remove(`${name}.${kind}`), { discard: true })
  const read = (name: string) =>
    Effect.gen(function*() {
      const text = yield* Effect.option(fs.readFileString(pathOf(`${name}.json`)))
      const running = Option.flatMap(text, (text) => Either.getRight(decode(text)))
      if (Option.isSome(running) && isAlive(running.value.pid)) return Option.some({ name, running: running.value })
      yield* leave(name)
      return Option.none()
    })
  return Option.some<Register>({
    say: ({ name, running }) => write(`${name}.json`, encode(running)),
    take: (name, change) =>
      fs.rename(pathOf(`${name}.limit`), pathOf(`${name}.taken`)).pipe(
        Effect.zipRight(fs.readFileString(pathOf(`${name}.taken`))),
        Effect.flatMap(change),
        Effect.zipRight(remove(`${name}.taken`)),
        Effect.ignore
      ),
    leave,
    all: Effect.gen(function*() {
      const names = yield* Effect.orElseSucceed(fs.readDirectory(directory.pathOf(folder)), () => [])
      const all = yield* Effect.forEach(
        names.flatMap((name) => name.endsWith(".json") ? [name.slice(0, -".json".length)] : []),
        read
      )
      return all.flatMap(Option.toArray).toSorted((one, other) => one.running.pid - other.running.pid)
    }),
    tell: (name, limit) => write(`${name}.limit`, limit),
    // one after the other: what is taken in between is seen in its second place
    isTold: (name) => Effect.exists([`${name}.limit`, `${name}.taken`], isThere)
  })
})
