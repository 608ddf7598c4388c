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
  private readonly locked = new Map<string, number>()

  constructor(private readonly world: World) {}

  private readonly full = (method: string) =>
    new PlatformError.SystemError({
      reason: "Unknown",
      module: "KeyValueStore",
      method,
      description: "no space left on device"
    })

  // Written whole at one moment: a process that is killed before loses the write.
  private write(method: string, change: () => void): Effect.Effect<void, PlatformError.PlatformError> {
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
        this.world.moment()
        resume(Effect.void)
      })
      return Effect.sync(() => process.cancel(wait))
    })
  }

  readonly store: KeyValueStore.KeyValueStore = KeyValueStore.makeStringOnly({
    get: (key) => Effect.sync(() => Option.fromNullable(this.values.get(key))),
    set: (key, value) =>
      this.write("set", () => {
        if (this.world.scenario.ledger !== "with URLs") this.world.print("ledger", value)
        this.values.set(key, value)
      }),
    remove: (key) => this.write("remove", () => this.values.delete(key)),
    clear: this.write("clear", () => this.values.clear()),
    size: Effect.sync(() => this.values.size)
  })

  readonly lock: UploadLedger.Lock = (id) => {
    const { life, process } = this.world
    return Effect.acquireRelease(
      Effect.sync(() => {
        if (this.locked.has(id)) return false
        this.locked.set(id, life)
        return true
      }),
      (taken) =>
        Effect.sync(() => {
          if (taken && process.isAlive) this.locked.delete(id)
        })
    )
  }

  get locks(): number {
    return this.locked.size
  }

  /** A process is dead: its locks are free. */
  release(): void {
    this.locked.clear()
  }

  /** What a process that begins now would find. */
  remembered(): ReadonlyArray<Remembered> {
    return [...this.values].flatMap(([key, value]) => {
      if (!key.endsWith("/record")) return []
      const id = key.slice(0, -"/record".length)
      return Option.match(Schema.decodeOption(Kept)(value), {
        onNone: () => [],
        onSome: ({ name, phase, session, startedAt }) => [{
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
