import { Error as PlatformError, KeyValueStore } from "@effect/platform"
import type { UploadLedger } from "@stevedore/core"
import { Effect, Option, Schema } from "effect"
import type { Remembered } from "./History.js"
import type { World } from "./World.js"

const Kept = Schema.parseJson(Schema.Struct({
  name: Schema.String,
  phase: Schema.String,
  startedAt: Schema.Number,
  session: Schema.Struct({
    fileId: Schema.String,
    parts: Schema.Number,
    urls: Schema.optional(Schema.Array(Schema.String))
  })
}))

const Receipt = Schema.parseJson(Schema.Struct({ partNumber: Schema.Number, etag: Schema.String }))

const deadlineOf = (url: string): number => {
  const query = new URL(url).searchParams
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(query.get("X-Amz-Date") ?? "") ?? []
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)) +
    Number(query.get("X-Amz-Expires")) * 1000
}

/** What outlives a process: the values of the ledger's store. Its locks do not. */
export class Disk {
  readonly values = new Map<string, string>()
  /** The life that has each lock. A life takes none anew that it has not let go of: it would take itself for the other. */
  private readonly locked = new Map<string, number>()
  private readonly taken = new Set<string>()

  constructor(private readonly world: World) {}

  private readonly full = (method: string) =>
    new PlatformError.SystemError({
      reason: "Unknown",
      module: "KeyValueStore",
      method,
      description: "no space left on device"
    })

  // Written whole at one moment: a process that is killed before loses the write.
  private write(method: string, key: string, change: () => void): Effect.Effect<void, PlatformError.PlatformError> {
    return Effect.async((resume) => {
      const { chance, process, scenario } = this.world
      if (!process.isAlive) return
      if (scenario.fullDisk > 0 && chance.happens(scenario.fullDisk)) {
        this.world.met("disk full")
        return resume(Effect.fail(this.full(method)))
      }
      const wait = process.after(chance.pick([0, 0, 1, 4]), () => {
        this.world.moment()
        if (!process.isAlive) return
        change()
        this.world.history.entries.push({ ...this.world.moment(), life: process.life, key })
        resume(Effect.void)
      }, true)
      return Effect.sync(() => process.cancel(wait))
    })
  }

  readonly store: KeyValueStore.KeyValueStore = KeyValueStore.makeStringOnly({
    get: (key) => Effect.sync(() => Option.fromNullable(this.values.get(key))),
    set: (key, value) =>
      this.write("set", key, () => {
        if (this.world.scenario.ledger !== "with URLs") this.world.print("ledger", value)
        this.values.set(key, value)
      }),
    remove: (key) => this.write("remove", key, () => this.values.delete(key)),
    clear: this.write("clear", "", () => this.values.clear()),
    size: Effect.sync(() => this.values.size)
  })

  readonly lock: UploadLedger.Lock = (id) => {
    const { life, process } = this.world
    const taking = `${life} ${id}`
    return Effect.acquireRelease(
      Effect.sync(() => {
        if (this.locked.has(id) || this.taken.has(taking)) return false
        this.locked.set(id, life)
        this.taken.add(taking)
        this.world.history.locks.push({ ...this.world.present, life, id })
        return true
      }),
      (taken) =>
        Effect.sync(() => {
          if (!taken || !process.isAlive) return
          this.taken.delete(taking)
          if (this.locked.get(id) === life) this.locked.delete(id)
        })
    )
  }

  readonly isHeld = (id: string): Effect.Effect<boolean> => Effect.sync(() => this.locked.get(id) === this.world.life)

  locksOf(life: number): number {
    return [...this.locked.values()].filter((holder) => holder === life).length
  }

  /** A process is dead, or has not been heard of for so long that it counts as dead: its locks are free. */
  release(life: number): void {
    for (const [id, holder] of this.locked) if (holder === life) this.locked.delete(id)
  }

  /** What a process that begins now would find. */
  remembered(): ReadonlyArray<Remembered> {
    return [...this.values].flatMap(([key, value]) => {
      if (!key.endsWith("/record")) return []
      const id = key.slice(0, -"/record".length)
      return Option.match(Schema.decodeOption(Kept)(value), {
        onNone: () => [],
        onSome: ({ name, phase, session, startedAt }) => [{
          id,
          name,
          phase,
          startedAt,
          fileId: session.fileId,
          hasUrls: session.urls !== undefined,
          deadline: session.urls === undefined ? undefined : Math.min(...session.urls.map(deadlineOf)),
          parts: session.parts,
          receipts: this.receiptsOf(`${id}/${session.fileId}-`)
        }]
      })
    })
  }

  private receiptsOf(prefix: string): ReadonlyMap<number, string> {
    const receipts = new Map<number, string>()
    for (const [key, value] of this.values) {
      if (!key.startsWith(prefix)) continue
      const receipt = Schema.decodeOption(Receipt)(value)
      if (Option.isSome(receipt)) receipts.set(receipt.value.partNumber, receipt.value.etag)
    }
    return receipts
  }
}
