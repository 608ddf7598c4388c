/** The table of files in memory: for one process, and for tests under `TestClock`. */
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Order from "effect/Order"
import type { FileEvent, FileRow, FileTableService, Measures, NewFile, PageRequest, Quota } from "./FileTable.js"
import { deliveryDelay, FileTable, KINDS, MOST_DELIVERIES } from "./FileTable.js"
import * as Ages from "./life/ages.js"
import * as Lifecycle from "./life/lifecycle.js"

interface Held {
  readonly row: FileRow
  readonly leaseOwner: string | undefined
  readonly leaseUntil: number
}

interface Event extends Omit<FileEvent, "file"> {
  readonly fileId: string
  readonly dueAt: number
}

const newestFirst = Order.combine(
  Order.mapInput(Order.reverse(Order.number), (row: FileRow) => row.createdAt),
  Order.mapInput(Order.reverse(Order.string), (row: FileRow) => row.id)
)

interface State {
  readonly files: Map<string, Held>
  readonly events: Map<string, Event>
  /** Of which somebody is told. */
  readonly kinds: Set<FileEvent["kind"]>
}

const withNow = <A>(change: (now: number) => A): Effect.Effect<A> => Effect.map(Clock.currentTimeMillis, change)

const lifeOf = ({ row, ...lease }: Held): Lifecycle.Life => ({ ...row, ...lease })

const isDelivered = ({ events }: State, id: string): boolean => KINDS.every((kind) => !events.has(`${id}/${kind}`))

/** Makes an event happen to a file, with what else is then known of it; undefined if it may not happen. */
const happen = (
  state: State,
  held: Held | undefined,
  event: Lifecycle.Event,
  asked: Lifecycle.Requested,
  known: Partial<FileRow> = {}
): FileRow | undefined => {
  if (held === undefined) return undefined
  const { id } = held.row
  const after = Lifecycle.next(lifeOf(held), event, { ...asked, isTold: isDelivered(state, id) })
  if (after === undefined) return undefined
  if (after === "forgotten") {
    state.files.delete(id)
    return held.row
  }
  const { leaseOwner, leaseUntil, settledAt } = after
  const row = { ...held.row, ...known, state: after.state, settledAt }
  state.files.set(id, { row, leaseOwner, leaseUntil })
  const kind = Lifecycle.fileEventOf(held.row.state, row.state)
  if (kind !== undefined && state.kinds.has(kind)) {
    const told = `${id}/${kind}`
    state.events.set(told, { id: told, kind, fileId: id, attempts: 0, dueAt: asked.now })
  }
  return row
}

const ofTenant = ({ files }: State, tenant: string): ReadonlyArray<FileRow> =>
  [...files.values()].map(({ row }) => row).filter((row) => row.tenant === tenant)

const hasRoom = (state: State, tenant: string, size: number, quota: Quota): boolean => {
  const { bytes = Infinity, files = Infinity } = quota
  const counted = ofTenant(state, tenant).filter(Lifecycle.isCounted)
  return counted.length < files && counted.reduce((sum, row) => sum + row.size, size) <= bytes
}

const begin = (state: State, { lifetimeMillis, ...file }: NewFile, quota: Quota | undefined, now: number): boolean => {
  if (quota !== undefined && !hasRoom(state, file.tenant, file.size, quota)) return false
  state.files.set(file.id, {
    row: {
      ...file,
      uploadId: undefined,
      etag: undefined,
      checksum: undefined,
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
}

const final = (state: State, tenant: string) => ofTenant(state, tenant).filter((row) => row.state === "finalized")

const page = (state: State, tenant: string, { after, direction, limit }: PageRequest): ReadonlyArray<FileRow> => {
  const order = direction === "desc" ? newestFirst : Order.reverse(newestFirst)
  return final(state, tenant)
    .filter((row) => after === undefined || order({ ...row, ...after }, row) < 0)
    .sort(order)
    .slice(0, limit)
}

const takeEvents = (
  state: State,
  [leaseMillis, limit, kinds]: Parameters<FileTableService["events"]>,
  now: number
): ReadonlyArray<FileEvent> => {
  const { events, files } = state
  kinds.forEach((kind) => state.kinds.add(kind))
  return [...events.values()]
    .filter(({ attempts, dueAt, kind }) => dueAt <= now && attempts < MOST_DELIVERIES && kinds.includes(kind))
    .slice(0, limit)
    .flatMap((event) => {
      const { attempts, fileId, id, kind } = event
      events.set(id, { ...event, attempts: attempts + 1, dueAt: now + leaseMillis * deliveryDelay(attempts) })
      const file = files.get(fileId)?.row
      return file === undefined ? [] : [{ id, kind, file, attempts }]
    })
}

const measured = ({ events, files }: State, now: number): Measures => {
  const rows = [...files.values()]
  const counted = rows.filter(({ row }) => Lifecycle.isCounted(row)).map(({ row }) => row)
  const tenants = Arr.dedupe(counted.map(({ tenant }) => tenant)).map((tenant) => {
    const own = counted.filter((row) => row.tenant === tenant)
    return { files: own.length, bytes: own.reduce((sum, { size }) => sum + size, 0) }
  })
  const [waiting, resting] = Arr.partition([...events.values()], ({ attempts }) => attempts >= MOST_DELIVERIES)
  const ages = waiting.map(({ fileId }) => now - (files.get(fileId)?.row.settledAt ?? now))
  return {
    bytes: tenants.reduce((sum, { bytes }) => sum + bytes, 0),
    files: tenants.reduce((sum, { files }) => sum + files, 0),
    tenants: tenants.length,
    largestBytes: Math.max(0, ...tenants.map(({ bytes }) => bytes)),
    largestFiles: Math.max(0, ...tenants.map(({ files }) => files)),
    waiting: waiting.length,
    resting: resting.length,
    oldestSeconds: Math.max(0, ...ages) / 1000,
    due: rows.filter((held) => Lifecycle.next(lifeOf(held), "sweep", { now, isTold: true }) !== undefined).length
  }
}

/**
 * An empty table.
 *
 * @category constructors
 */
export const make = (): FileTableService => {
  const state: State = { files: new Map(), events: new Map(), kinds: new Set() }
  let looks = {}
  const ages = Ages.make(withNow((now) => ({ ...looks, now })), (looked) => Effect.sync(() => (looks = looked)))

  const change = (
    id: string,
    event: Lifecycle.Event,
    asked: Omit<Lifecycle.Requested, "now"> = {},
    known?: Partial<FileRow>
  ) => withNow((now) => happen(state, state.files.get(id), event, { ...asked, now }, known))

  const changed = (...asked: Parameters<typeof change>) => Effect.map(change(...asked), (row) => row !== undefined)

  const of = (tenant: string, id: string): Held | undefined => {
    const held = state.files.get(id)
    return held?.row.tenant === tenant ? held : undefined
  }

  return {
    open: (file, quota) => withNow((now) => begin(state, file, quota, now)),
    opened: (id, uploadId) => changed(id, "open", {}, { uploadId }),
    find: (tenant, id) =>
      withNow((now) =>
        Option.map(
          Option.fromNullable(of(tenant, id)),
          ({ row }) => ({ ...row, state: Lifecycle.stateAt(row, now) })
        )
      ),
    claim: (tenant, id, owner, leaseMillis) =>
      withNow((now) => Option.fromNullable(happen(state, of(tenant, id), "claim", { now, owner, leaseMillis }))),
    renew: (id, owner, leaseMillis) => changed(id, "renew", { owner, leaseMillis }),
    release: (id, owner) => changed(id, "release", { owner }),
    settle: (id, owner, outcome) =>
      Effect.map(change(id, Lifecycle.eventOf[outcome.state], { owner }, outcome), Option.fromNullable),
    due: (owner, leaseMillis, limit) =>
      Effect.zipWith(ages, Effect.clock, (ages, clock) => {
        const now = clock.unsafeCurrentTimeMillis()
        const until = Ages.until(ages)
        const due: Array<FileRow> = []
        for (const held of [...state.files.values()]) {
          if (due.length === limit) break
          const row = happen(state, held, "sweep", { now, until, owner, leaseMillis })
          if (row !== undefined) due.push(row)
        }
        return due
      }),
    removed: (id, owner) =>
      Effect.flatMap(
        changed(id, "forget", { owner }),
        (isForgotten) => isForgotten ? Effect.succeed(true) : changed(id, "remove", { owner })
      ),
    discard: (tenant, id) => withNow((now) => happen(state, of(tenant, id), "discard", { now }) !== undefined),
    page: (tenant, request) => Effect.sync(() => page(state, tenant, request)),
    tenants: Effect.sync(() =>
      Arr.dedupe([...state.files.values()].filter(({ row }) => Lifecycle.isCounted(row)).map(({ row }) => row.tenant))
    ),
    measures: withNow((now) => measured(state, now)),
    count: (tenant, before = Infinity) =>
      Effect.sync(() => final(state, tenant).filter(({ createdAt }) => createdAt < before).length),
    ages,
    events: (...asked) => withNow((now) => takeEvents(state, asked, now)),
    delivered: (...events) => Effect.sync(() => events.forEach((event) => state.events.delete(event)))
  }
}

/**
 * An empty table in memory.
 *
 * @category layers
 */
export const layer: Layer.Layer<FileTable> = Layer.sync(FileTable, make)
