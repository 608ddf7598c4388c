import { assert, describe, it } from "@effect/vitest"
import type { Layer } from "effect"
import { Effect, FastCheck as fc, Option } from "effect"
import type { FileRow, NewFile, Outcome, Quota, TableFailed } from "../../src/FileTable.js"
import { FileTable, KINDS } from "../../src/FileTable.js"
import * as FileTableMemory from "../../src/FileTableMemory.js"

const LEASE = 60

/** More files than any page has, so that many have one time of creation. */
const MANY = 120

// for two that try at once: the second may have to connect first
const LONGER_LEASE = 1000

export const newFile = (id: string, changes: Partial<NewFile> = {}): NewFile => ({
  id,
  tenant: "acme",
  owner: { id: "ann", name: "Ann" },
  name: `${id} \u{1f6a2}.bin`,
  mediaType: undefined,
  metadata: undefined,
  size: 9_007_199_254_740_991,
  kind: "single",
  key: `files/acme/${id}`,
  state: "waiting",
  lifetimeMillis: 60_000,
  ...changes
})

const state = (row: Option.Option<FileRow>): string =>
  Option.match(row, { onNone: () => "none", onSome: (row) => row.state })

const afterLease = Effect.sleep(LEASE * 2)

/** What can be asked of a table. Leases and lifetimes are over at once, or not for as long as a test runs. */
const asking = fc.record({
  call: fc.constantFrom(
    ...["open", "opened", "find", "claim", "renew", "release", "settle", "due", "removed", "discard"] as const
  ),
  tenant: fc.constantFrom("acme", "acme", "acme", "other"),
  id: fc.constantFrom("a", "b"),
  owner: fc.constantFrom("ann", "eve"),
  lasts: fc.constantFrom(0, 600_000),
  outcome: fc.constantFrom<Outcome>(
    { state: "finalized", etag: "\"e\"", versionId: "v" },
    { state: "inspecting", etag: "\"e\"" },
    { state: "failed", reason: "wrong" }
  )
})

type Asking = typeof asking extends fc.Arbitrary<infer A> ? A : never

const known = ({ etag, id, reason, state, uploadId, versionId }: FileRow) => ({
  etag,
  id,
  reason,
  state,
  uploadId,
  versionId
})

const byId = (left: { readonly id: string }, right: { readonly id: string }) => left.id < right.id ? -1 : 1

/** What a table answers, without its times. */
const answer = (table: FileTable["Type"], { call, id, lasts, outcome, owner, tenant }: Asking) => {
  const shown = Effect.map(Option.map<FileRow, unknown>(known))
  const calls: Record<typeof call, Effect.Effect<unknown, TableFailed>> = {
    open: Effect.suspend(() =>
      Effect.flatMap(
        table.find("acme", id),
        (found): Effect.Effect<unknown, TableFailed> =>
          Option.isSome(found) ? Effect.succeed("there") : table.open(
            newFile(id, {
              state: lasts === 0 ? "opening" : "waiting",
              size: 1,
              lifetimeMillis: owner === "eve" ? lasts : 600_000
            })
          )
      )
    ),
    opened: table.opened(id, "upload"),
    find: shown(table.find(tenant, id)),
    claim: shown(table.claim(tenant, id, owner, lasts)),
    renew: table.renew(id, owner, lasts),
    release: table.release(id, owner),
    settle: shown(table.settle(id, owner, outcome)),
    due: Effect.map(table.due(owner, lasts, 10), (rows) => rows.map(known).sort(byId)),
    removed: table.removed(id, owner),
    discard: table.discard(tenant, id)
  }
  return calls[call]
}

/** The table, as one that somebody is told of everything. */
export const receiving = (table: FileTable["Type"]) => Effect.as(table.events(0, 0, KINDS), table)

/** What every table of files does, whatever keeps it. */
export const laws = <E>(name: string, layer: Layer.Layer<FileTable, E>): void => {
  describe(`the table of files ${name}`, () => {
    const law = <A, F>(what: string, run: (table: FileTable["Type"]) => Effect.Effect<A, F>) =>
      it.live(what, () => Effect.provide(Effect.flatMap(Effect.flatMap(FileTable, receiving), run), layer), 120_000)

    law("keeps a row as it was given, for its tenant alone", (table) =>
      Effect.gen(function*() {
        const more = { mediaType: "text/plain", metadata: { album: "Rotterdam \u{1f6a2}", "x.y": "" } }
        yield* table.open(newFile("kept", more))
        const row = Option.getOrThrow(yield* table.find("acme", "kept"))
        const { createdAt, expiresAt, ...rest } = row
        const { lifetimeMillis, ...given } = newFile("kept", more)
        assert.deepStrictEqual(rest, {
          ...given,
          uploadId: undefined,
          etag: undefined,
          checksum: undefined,
          versionId: undefined,
          reason: undefined,
          settledAt: undefined
        })
        // the clock goes on within a statement
        assert.isBelow(Math.abs(expiresAt - createdAt - lifetimeMillis), 1000)
        assert.strictEqual(state(yield* table.find("other", "kept")), "none")
        assert.strictEqual(state(yield* table.claim("other", "kept", "one", LEASE)), "none")
        assert.isFalse(yield* table.discard("other", "kept"))
      }))

    law("answers any history as the table of transitions does", (table) =>
      Effect.gen(function*() {
        for (
          const [index, history] of fc.sample(fc.array(asking, { minLength: 20, maxLength: 40 }), {
            numRuns: 60,
            seed: 5
          }).entries()
        ) {
          const model = yield* receiving(FileTableMemory.make())
          // each history has files of its own
          const own = history.map((one) => ({ ...one, id: `${one.id}-${index}` }))
          for (const [step, one] of own.entries()) {
            const of = `history ${index}, step ${step}: ${JSON.stringify(one)}`
            assert.deepStrictEqual(yield* answer(table, one), yield* answer(model, one), of)
          }
          const told = (from: FileTable["Type"]) =>
            Effect.map(from.events(600_000, 100, KINDS), (events) =>
              events.map(({ file, id, kind }) => ({ id, kind, state: file.state })).sort(byId))
          assert.deepStrictEqual(yield* told(table), yield* told(model), `history ${index}`)
          // whatever has not ended is out of the way of the next one
          yield* table.due("end", 600_000, 100)
        }
      }))

    law("holds no more than a tenant's quota, however many come at once", (table) =>
      Effect.gen(function*() {
        const file = (id: string) => newFile(id, { size: 10 })
        yield* table.open({ ...file("foreign"), tenant: "other" })
        const held = (quota: Quota, prefix: string) =>
          Effect.map(
            Effect.forEach(
              Array.from({ length: 12 }, (_, index) => file(`${prefix}-${index}`)),
              (one) => Effect.map(table.open(one, quota), (isHeld) => isHeld ? [one.id] : []),
              { concurrency: "unbounded" }
            ),
            (ids) => ids.flat()
          )
        // a file that came before there was a quota counts
        assert.isTrue(yield* table.open(file("before")))
        const byBytes = yield* held({ bytes: 59 }, "bytes")
        assert.strictEqual(byBytes.length, 4)
        const byFiles = yield* held({ files: 7 }, "files")
        assert.strictEqual(byFiles.length, 2)
        assert.isFalse(yield* table.open(file("full"), { bytes: 1000, files: 7 }))
        assert.isFalse(yield* table.open(file("full"), { bytes: 79, files: 1000 }))
        assert.strictEqual(state(yield* table.find("acme", "full")), "none")
        assert.isTrue(yield* table.open(newFile("elsewhere", { tenant: "new", size: 10 }), { bytes: 10, files: 1 }))
      }))

    law("gives back what has failed, was discarded or is removed, once", (table) =>
      Effect.gen(function*() {
        const quota = { bytes: 30, files: 3 }
        const open = (id: string, changes: Partial<NewFile> = {}) =>
          table.open(newFile(id, { size: 10, ...changes }), quota)
        const settle = (id: string, outcome: Outcome) =>
          Effect.zipRight(table.claim("acme", id, id, 60_000), table.settle(id, id, outcome))
        yield* open("wrong")
        yield* open("kept")
        yield* open("expired", { lifetimeMillis: 0 })
        assert.isFalse(yield* open("full"))

        yield* settle("wrong", { state: "failed", reason: "3 bytes are stored" })
        assert.isTrue(yield* open("second"))
        yield* settle("kept", { state: "finalized", etag: "\"e\"" })
        assert.isFalse(yield* open("full"))
        assert.isTrue(yield* table.discard("acme", "kept"))
        assert.isTrue(yield* open("third"))
        assert.isFalse(yield* open("full"))

        const due = yield* table.due("sweeper", 60_000, 10)
        assert.deepStrictEqual(due.map(({ id }) => id).sort(), ["expired", "kept"])
        // its bytes are still there
        assert.isFalse(yield* open("full"))
        assert.deepInclude(yield* table.measures, { waiting: 2, due: 0 })
        yield* Effect.forEach(due, ({ id }) => table.removed(id, "sweeper"))
        assert.isTrue(yield* open("fourth"))
        assert.isFalse(yield* open("full"))
        yield* table.open({ ...newFile("late", { size: 7, lifetimeMillis: 0 }), tenant: "other" })
        yield* Effect.sleep(5)
        const { oldestSeconds, ...measures } = yield* table.measures
        assert.deepStrictEqual(measures, {
          bytes: 37,
          files: 4,
          tenants: 2,
          largestBytes: 30,
          largestFiles: 3,
          waiting: 4,
          resting: 0,
          due: 1
        })
        assert.isTrue(oldestSeconds > 0 && oldestSeconds < 60, String(oldestSeconds))
      }))

    law("gives a file to one of many that claim it at once", (table) =>
      Effect.gen(function*() {
        yield* table.open(newFile("wanted"))
        const claims = yield* Effect.forEach(
          Array.from({ length: 20 }, (_, index) => `owner-${index}`),
          (owner) => table.claim("acme", "wanted", owner, 60_000),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(claims.filter(Option.isSome).length, 1)
      }))

    law("settles a file once, with one event, whoever tries", (table) =>
      Effect.gen(function*() {
        yield* table.open(newFile("settled"))
        yield* table.claim("acme", "settled", "dead", LEASE)
        assert.strictEqual(state(yield* table.claim("acme", "settled", "early", LEASE)), "none")
        yield* afterLease
        assert.strictEqual(state(yield* table.claim("acme", "settled", "heir", 60_000)), "completing")
        const outcome = { state: "finalized", etag: "\"e\"" } as const
        assert.strictEqual(state(yield* table.settle("settled", "dead", outcome)), "none")
        assert.isFalse(yield* table.renew("settled", "dead", LEASE))
        assert.isFalse(yield* table.release("settled", "dead"))
        const settled = Option.getOrThrow(yield* table.settle("settled", "heir", outcome))
        assert.deepStrictEqual([settled.state, settled.etag], ["finalized", "\"e\""])
        assert.isAtLeast(settled.settledAt ?? 0, settled.createdAt)
        assert.strictEqual(state(yield* table.settle("settled", "heir", outcome)), "none")
        const events = yield* table.events(60_000, 10, KINDS)
        assert.deepStrictEqual(
          events.map(({ attempts, file, id, kind }) => ({ attempts, file: file.id, id, kind })),
          [{ attempts: 0, file: "settled", id: "settled/completed", kind: "completed" }]
        )
      }))

    law(
      "lists each of many files once, by its time, while others come, and counts them all",
      (table) =>
        Effect.gen(function*() {
          const ids = Array.from({ length: MANY }, (_, index) => `many-${(index * 7919) % MANY}`)
          const outcome = { state: "finalized", etag: "\"e\"" } as const
          const finalize = (id: string) =>
            Effect.all([
              table.open(newFile(id, { size: 1 })),
              table.claim("acme", id, id, 60_000),
              table.settle(id, id, outcome)
            ])
          yield* Effect.forEach(ids, finalize, { concurrency: 64, discard: true })
          assert.strictEqual(yield* table.count("acme"), MANY)
          assert.deepStrictEqual(yield* table.tenants, ["acme"])
          const walk = (direction: "asc" | "desc", meanwhile: (page: number) => Effect.Effect<unknown, unknown>) =>
            Effect.gen(function*() {
              let found: ReadonlyArray<FileRow> = []
              for (let page = 0; page <= MANY; page++) {
                const { createdAt, id } = found.at(-1) ?? {}
                const after = createdAt === undefined || id === undefined ? undefined : { createdAt, id }
                const rows = yield* table.page("acme", { limit: 23, direction, after })
                if (rows.length === 0) return found
                found = [...found, ...rows]
                yield* Effect.orDie(meanwhile(page))
              }
              return yield* Effect.dieMessage("the walk has no end")
            })
          const up = yield* walk("asc", () => Effect.void)
          const down = yield* walk("desc", (page) => finalize(`late-${page}`))
          assert.deepStrictEqual(up.map(({ id }) => id).sort(), [...ids].sort())
          // what comes during a walk from the newest is before its first page
          assert.deepStrictEqual(down.map(({ id }) => id), up.map(({ id }) => id).reverse())
          assert.isTrue(up.every(({ createdAt }, index) => index === 0 || createdAt >= (up[index - 1]?.createdAt ?? 0)))
          const late = Math.ceil(MANY / 23)
          assert.strictEqual(yield* table.count("acme"), MANY + late)
          const files = MANY + late + 1
          assert.isTrue(yield* table.open(newFile("last", { size: 1 }), { bytes: files, files }))
          assert.isFalse(yield* table.open(newFile("one too many", { size: 1 }), { files }))
        })
    )

    law("keeps a lease that is renewed", (table) =>
      Effect.gen(function*() {
        yield* table.open(newFile("renewed"))
        yield* table.claim("acme", "renewed", "one", LEASE)
        assert.isTrue(yield* table.renew("renewed", "one", 60_000))
        yield* afterLease
        assert.strictEqual(state(yield* table.claim("acme", "renewed", "two", LEASE)), "none")
        assert.isTrue(yield* table.release("renewed", "one"))
        assert.strictEqual(state(yield* table.claim("acme", "renewed", "two", LEASE)), "completing")
      }))

    law(
      "writes an event for a file that has failed, and none for one that is looked at",
      (table) =>
        Effect.gen(function*() {
          yield* table.open(newFile("wrong"))
          yield* table.claim("acme", "wrong", "one", LEASE)
          const failed = Option.getOrThrow(
            yield* table.settle("wrong", "one", { state: "failed", reason: "3 bytes are stored" })
          )
          assert.deepStrictEqual([failed.state, failed.reason], ["failed", "3 bytes are stored"])
          assert.deepStrictEqual((yield* table.events(60_000, 10, KINDS)).map(({ id, kind }) => [id, kind]), [
            ["wrong/failed", "failed"]
          ])
          yield* table.open(newFile("seen"))
          yield* table.claim("acme", "seen", "one", LEASE)
          yield* table.settle("seen", "one", { state: "inspecting", etag: "\"e\"" })
          assert.deepStrictEqual(yield* table.events(60_000, 10, KINDS), [])
          const due = yield* table.due("inspector", 60_000, 10)
          assert.deepStrictEqual(due.map(({ etag, id, state }) => ({ etag, id, state })), [
            { etag: "\"e\"", id: "seen", state: "inspecting" }
          ])
          yield* table.settle("seen", "inspector", { state: "finalized", etag: "\"e\"" })
          assert.strictEqual((yield* table.events(60_000, 10, KINDS)).length, 1)
        })
    )

    law("gives what has expired to one sweeper, which removes it", (table) =>
      Effect.gen(function*() {
        yield* table.open(newFile("opening", { kind: "multipart", state: "opening", lifetimeMillis: 0 }))
        yield* table.open(newFile("expired", { lifetimeMillis: 0 }))
        yield* table.open(newFile("alive"))
        yield* Effect.sleep(5)
        assert.strictEqual(state(yield* table.claim("acme", "expired", "late", LEASE)), "none")
        assert.strictEqual(state(yield* table.find("acme", "expired")), "removing")
        const due = yield* Effect.all([table.due("a", LONGER_LEASE, 10), table.due("b", LONGER_LEASE, 10)], {
          concurrency: 2
        })
        assert.deepStrictEqual(due.flat().map(({ id, state }) => `${id} ${state}`).sort(), [
          "expired removing",
          "opening removing"
        ])
        assert.isFalse(yield* table.opened("opening", "upload"))
        // its sweeper has died
        yield* Effect.sleep(LONGER_LEASE * 2)
        assert.strictEqual((yield* table.due("c", 60_000, 10)).length, 2)
        assert.isTrue(yield* table.removed("expired", "c"))
        assert.isFalse(yield* table.removed("expired", "c"))
        assert.isFalse(yield* table.removed("opening", "a"))
        assert.strictEqual(state(yield* table.find("acme", "expired")), "removed")
        assert.deepStrictEqual((yield* table.events(60_000, 10, KINDS)).map(({ id }) => id), ["expired/removed"])
      }))

    law("gives what nobody completes any more to a sweeper", (table) =>
      Effect.gen(function*() {
        yield* table.open(newFile("left"))
        yield* table.claim("acme", "left", "dead", LEASE)
        assert.deepStrictEqual(yield* table.due("sweeper", LEASE, 10), [])
        yield* afterLease
        const [left] = yield* table.due("sweeper", 60_000, 10)
        assert.strictEqual(left?.state, "completing")
        assert.strictEqual(
          state(yield* table.settle("left", "sweeper", { state: "finalized", etag: "\"e\"" })),
          "finalized"
        )
      }))

    law("keeps which version was completed", (table) =>
      Effect.gen(function*() {
        yield* table.open(newFile("versioned"))
        yield* table.claim("acme", "versioned", "one", LEASE)
        yield* table.settle("versioned", "one", { state: "finalized", etag: "\"e\"", versionId: "v-1" })
        const row = Option.getOrThrow(yield* table.find("acme", "versioned"))
        assert.deepStrictEqual([row.etag, row.versionId], ["\"e\"", "v-1"])
      }))

    law("delivers an event again until it is told that it was delivered", (table) =>
      Effect.gen(function*() {
        yield* table.open(newFile("told"))
        yield* table.claim("acme", "told", "one", LEASE)
        yield* table.settle("told", "one", { state: "finalized", etag: "\"e\"" })
        const both = yield* Effect.all([table.events(LONGER_LEASE, 10, KINDS), table.events(LONGER_LEASE, 10, KINDS)], {
          concurrency: 2
        })
        assert.strictEqual(both.flat().length, 1)
        yield* Effect.sleep(LONGER_LEASE * 2)
        const [again] = yield* table.events(LEASE, 10, KINDS)
        assert.deepStrictEqual([again?.id, again?.attempts], ["told/completed", 1])
        yield* table.delivered("told/completed")
        yield* afterLease
        assert.deepStrictEqual(yield* table.events(LEASE, 10, KINDS), [])
      }))

    it.live(
      "writes what somebody has asked for, by whomever it is done, and leaves it to those that do",
      () =>
        Effect.gen(function*() {
          const table = yield* FileTable
          const finalize = (id: string) =>
            Effect.all([
              table.open(newFile(id)),
              table.claim("acme", id, id, 60_000),
              table.settle(id, id, { state: "finalized", etag: "\"e\"" })
            ])
          yield* finalize("before")
          assert.deepStrictEqual(yield* table.events(60_000, 10, []), [])
          assert.deepStrictEqual(yield* table.events(60_000, 10, ["completed", "failed"]), [])
          yield* finalize("after")
          yield* table.discard("acme", "after")
          yield* Effect.forEach(yield* table.due("sweeper", 60_000, 10), ({ id }) => table.removed(id, "sweeper"))
          assert.deepInclude(yield* table.measures, { waiting: 1 })
          assert.deepStrictEqual(yield* table.events(60_000, 10, ["removed", "failed"]), [])
          assert.deepStrictEqual((yield* table.events(60_000, 10, ["completed"])).map(({ id }) => id), [
            "after/completed"
          ])
          // now that somebody asks for it
          yield* table.discard("acme", "before")
          yield* Effect.forEach(yield* table.due("sweeper", 60_000, 10), ({ id }) => table.removed(id, "sweeper"))
          assert.deepStrictEqual((yield* table.events(60_000, 10, ["removed"])).map(({ id }) => id), ["before/removed"])
        }).pipe(Effect.provide(layer)),
      120_000
    )

    law("lists what is final, page by page, in both directions", (table) =>
      Effect.gen(function*() {
        const ids = Array.from({ length: 7 }, (_, index) => `file-${index}`)
        yield* Effect.forEach(ids, (id) =>
          Effect.gen(function*() {
            yield* table.open(newFile(id))
            yield* table.claim("acme", id, id, LEASE)
            yield* table.settle(id, id, { state: "finalized", etag: "\"e\"" })
          }))
        yield* table.open(newFile("unfinished"))
        yield* table.open(newFile("foreign", { tenant: "other" }))
        yield* table.claim("other", "foreign", "one", LEASE)
        yield* table.settle("foreign", "one", { state: "finalized", etag: "\"e\"" })
        assert.strictEqual(yield* table.count("acme"), 7)
        const walk = (
          direction: "asc" | "desc",
          seen: ReadonlyArray<FileRow> = []
        ): Effect.Effect<ReadonlyArray<FileRow>, TableFailed> =>
          Effect.flatMap(
            table.page("acme", { limit: 3, direction, after: seen.at(-1) }),
            (page) => page.length === 0 ? Effect.succeed(seen) : walk(direction, [...seen, ...page])
          )
        const up = (yield* walk("asc")).map(({ id }) => id)
        assert.deepStrictEqual([...up].sort(), ids)
        assert.deepStrictEqual((yield* walk("desc")).map(({ id }) => id), up.reverse())
        assert.isTrue(yield* table.discard("acme", "file-3"))
        assert.strictEqual(yield* table.count("acme"), 6)
        assert.deepStrictEqual((yield* table.due("sweeper", LEASE, 10)).map(({ id }) => id), ["file-3"])
      }))
  })
}
