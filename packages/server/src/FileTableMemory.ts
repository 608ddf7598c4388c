/** The table of files in memory: for one process, and for tests under `TestClock`. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Order from "effect/Order"
import type { FileRow, FileState, FileTableService, Quota } from "./FileTable.js"
import { FileTable, SECOND_LOOK_MILLIS } from "./FileTable.js"

interface Held {
  row: FileRow
  leaseOwner: string | undefined
  leaseUntil: number
}

interface Event {
  readonly id: string
  readonly kind: "completed" | "removed"
  readonly file: FileRow
  attempts: number
  dueAt: number
}

const newestFirst = Order.combine(
  Order.mapInput(Order.reverse(Order.number), (row: FileRow) => row.createdAt),
  Order.mapInput(Order.reverse(Order.string), (row: FileRow) => row.id)
)

/**
 * An empty table.
 *
 * @category constructors
 */
export const make = (): FileTableService => {
  const files = new Map<string, Held>()
  const events = new Map<string, Event>()

  const withNow = <A>(change: (now: number) => A): Effect.Effect<A> => Effect.map(Clock.currentTimeMillis, change)

  const owned = (id: string, owner: string, states: ReadonlyArray<FileState>): Held | undefined => {
    const held = files.get(id)
    return held !== undefined && held.leaseOwner === owner && states.includes(held.row.state) ? held : undefined
  }

  const freed = (held: Held, row: FileRow): FileRow => {
    held.row = row
    held.leaseOwner = undefined
    return row
  }

  const taken = (held: Held, state: FileState, owner: string, until: number): FileRow => {
    held.row = { ...held.row, state }
    held.leaseOwner = owner
    held.leaseUntil = until
    return held.row
  }

  const happened = (kind: Event["kind"], file: FileRow, now: number) => {
    const id = `${file.id}/${kind}`
    events.set(id, { id, kind, file, attempts: 0, dueAt: now })
  }

  const dueState = (held: Held, now: number): FileState | undefined => {
    switch (held.row.state) {
      case "opening":
      case "waiting":
        return held.row.expiresAt <= now ? "removing" : undefined
      case "completing":
      case "inspecting":
      case "removing":
        return held.leaseUntil <= now ? held.row.state : undefined
      case "removed":
        return (held.row.settledAt ?? now) + SECOND_LOOK_MILLIS <= now && held.leaseUntil <= now ? "removed" : undefined
      default:
        return undefined
    }
  }

  const counts = ({ settledAt, state }: FileRow): boolean =>
    state === "removing" ? settledAt === undefined : state !== "failed" && state !== "removed"

  const hasRoom = (tenant: string, size: number, { bytes = Infinity, files: most = Infinity }: Quota): boolean => {
    const counted = [...files.values()].map(({ row }) => row).filter((row) => row.tenant === tenant && counts(row))
    return counted.length < most && counted.reduce((sum, row) => sum + row.size, size) <= bytes
  }

  const final = (tenant: string) =>
    [...files.values()].map(({ row }) => row).filter((row) => row.tenant === tenant && row.state === "finalized")

  return {
    open: ({ lifetimeMillis, ...file }, quota) =>
      withNow((now) => {
        if (quota !== undefined && !hasRoom(file.tenant, file.size, quota)) return false
        files.set(file.id, {
          row: {
            ...file,
            uploadId: undefined,
            etag: undefined,
            versionId: undefined,
            reason: undefined,
            createdAt: now,
            settledAt: undefined,
            expiresAt: now + lifetimeMillis
          },
          leaseOwner: undefined,
          leaseUntil: 0
        })
        return true
      }),
    opened: (id, uploadId) =>
      Effect.sync(() => {
        const held = files.get(id)
        if (held?.row.state !== "opening") return false
        held.row = { ...held.row, state: "waiting", uploadId }
        return true
      }),
    find: (tenant, id) =>
      withNow((now) => {
        const held = files.get(id)
        if (held === undefined || held.row.tenant !== tenant) return Option.none()
        return Option.some({ ...held.row, state: dueState(held, now) ?? held.row.state })
      }),
    claim: (tenant, id, owner, leaseMillis) =>
      withNow((now) => {
        const held = files.get(id)
        if (held === undefined || held.row.tenant !== tenant) return Option.none()
        const free = held.row.state === "waiting"
          ? held.row.expiresAt > now
          : held.row.state === "completing" && held.leaseUntil <= now
        return free ? Option.some(taken(held, "completing", owner, now + leaseMillis)) : Option.none()
      }),
    renew: (id, owner, leaseMillis) =>
      withNow((now) => {
        const held = owned(id, owner, ["completing", "inspecting", "removing", "removed"])
        if (held === undefined) return false
        held.leaseUntil = now + leaseMillis
        return true
      }),
    release: (id, owner) =>
      Effect.sync(() => {
        const held = owned(id, owner, ["completing"])
        if (held === undefined) return false
        freed(held, { ...held.row, state: "waiting" })
        return true
      }),
    settle: (id, owner, outcome) =>
      withNow((now) => {
        const held = owned(id, owner, ["completing", "inspecting"])
        if (held === undefined) return Option.none()
        // whoever inspects next takes it at once
        held.leaseUntil = now
        const row = freed(held, { ...held.row, ...outcome, settledAt: now })
        if (row.state === "finalized") happened("completed", row, now)
        return Option.some(row)
      }),
    due: (owner, leaseMillis, limit) =>
      withNow((now) =>
        [...files.values()]
          .flatMap((held) => {
            const state = dueState(held, now)
            return state === undefined ? [] : [{ held, state }]
          })
          .slice(0, limit)
          .map(({ held, state }) => taken(held, state, owner, now + leaseMillis))
      ),
    removed: (id, owner) =>
      withNow((now) => {
        const held = owned(id, owner, ["removing", "removed"])
        if (held === undefined) return false
        if (held.row.state === "removed") {
          files.delete(id)
          return true
        }
        held.leaseUntil = now
        happened("removed", freed(held, { ...held.row, state: "removed", settledAt: now }), now)
        return true
      }),
    discard: (tenant, id) =>
      withNow((now) => {
        const held = files.get(id)
        if (held === undefined || held.row.tenant !== tenant || held.row.state !== "finalized") return false
        held.leaseUntil = now
        freed(held, { ...held.row, state: "removing" })
        return true
      }),
    page: (tenant, { after, direction, limit }) =>
      Effect.sync(() => {
        const order = direction === "desc" ? newestFirst : Order.reverse(newestFirst)
        return final(tenant)
          .filter((row) => after === undefined || order({ ...row, ...after }, row) < 0)
          .sort(order)
          .slice(0, limit)
      }),
    count: (tenant) => Effect.sync(() => final(tenant).length),
    events: (leaseMillis, limit) =>
      withNow((now) =>
        [...events.values()].filter((event) => event.dueAt <= now).slice(0, limit).map((event) => {
          const { attempts, file, id, kind } = event
          event.attempts += 1
          event.dueAt = now + leaseMillis
          return { id, kind, file, attempts }
        })
      ),
    delivered: (event) => Effect.sync(() => void events.delete(event))
  }
}

/**
 * An empty table in memory.
 *
 * @category layers
 */
export const layer: Layer.Layer<FileTable> = Layer.sync(FileTable, make)
