import { assert, describe, it } from "@effect/vitest"
import { ServiceProfile, Uploads, UploadSources } from "@stevedore/core"
import { NodeStevedore } from "@stevedore/node"
import { Effect, Runtime } from "effect"
import type { Gate, Instance } from "../support/cluster.js"
import * as Cluster from "../support/cluster.js"
import { initiateLarge, isComplete, MIB, prepared, sent, sessionOf, until } from "../support/prepared.js"
import * as RealStore from "../support/realStore.js"

const isCreate = (method: string, target: string) => method === "POST" && /[?&]uploads=/.test(target)
const isAbort = (method: string, target: string) => method === "DELETE" && /[?&]uploadId=/.test(target)
const isHead = (method: string, target: string) => method === "HEAD" && target.includes("/files/")

/** The gate kills the instance at the first such call. */
const killing = (through: Gate, when: "before" | "after", is: typeof isCreate, victim: () => Instance | undefined) => {
  through[when] = (method, target) => {
    if (!is(method, target)) return false
    const killed = victim()
    if (killed !== undefined) Effect.runSync(killed.signal("SIGKILL"))
    return killed !== undefined
  }
}

describe("instances over PostgreSQL and a bucket", () => {
  it.scopedLive.each(
    [
      ["before the store opens the upload", "before", isCreate],
      ["when the store has opened the upload", "after", isCreate]
    ] as const
  )("leave no upload behind at the store, if one is killed %s", ([, when, is]) =>
    Effect.gen(function*() {
      const service = yield* prepared
      const through = yield* Cluster.gate
      const first = yield* service.start({ ORPHANS: "3 seconds" }, through)
      const second = yield* service.start({ ORPHANS: "3 seconds" })
      killing(through, when, is, () => first)
      assert.isTrue((yield* Effect.exit(initiateLarge(service, first)))._tag === "Failure")
      yield* first.ended
      const [row] = yield* service.states
      assert.strictEqual(row?.state, "opening")
      yield* until("the other sweeps it", service.states, ([one]) => one?.state === "removed")
      assert.deepStrictEqual(yield* service.store.opened(row?.key ?? ""), [])
      assert.strictEqual((yield* service.call(second, "GET", `/v1/files/${row?.id}`)).status, 404)
    }), 240_000)

  it.scopedLive.each(
    [
      ["before the store completes it", "asked again", "before", isComplete],
      ["before the store completes it", "not asked again", "before", isComplete],
      ["when the store has completed it", "asked again", "after", isComplete],
      ["when the store has completed it", "not asked again", "after", isComplete],
      ["when it has looked at the object", "asked again", "after", isHead],
      ["when it has looked at the object", "not asked again", "after", isHead]
    ] as const
  )("lose no upload, if one is killed %s and is %s", ([what, asked, when, is]) =>
    Effect.gen(function*() {
      const service = yield* prepared
      const through = yield* Cluster.gate
      const first = yield* service.start({}, through)
      const second = yield* service.start()
      const session = sessionOf(yield* initiateLarge(service, first))
      const listed = yield* sent(session)
      const path = `/v2/files/${session.id}/large-upload/complete`
      killing(through, when, is, () => first)
      assert.isTrue((yield* Effect.exit(service.call(first, "POST", path, listed)))._tag === "Failure")
      yield* first.ended
      const stateOf = Effect.map(service.states, ([one]) => one?.state)
      if (asked === "not asked again") {
        const isThere = !what.startsWith("before")
        yield* until("the other looks after it", stateOf, (state) => state === (isThere ? "finalized" : "waiting"))
      }
      const answer = yield* service.call(second, "POST", path, listed)
      assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
      assert.strictEqual(yield* stateOf, "finalized")
      assert.strictEqual((yield* service.store.head((yield* service.states)[0]?.key ?? "")).size, 5 * MIB + 3)
      assert.strictEqual((yield* service.call(second, "POST", path, listed)).status, 200)
    }), 240_000)

  it.scopedLive.each(["before", "after"] as const)(
    "answer a Complete that is under way when one is asked to end %s the store completes it",
    (when) =>
      Effect.gen(function*() {
        const service = yield* prepared
        const through = yield* Cluster.gate
        const first = yield* service.start({}, through)
        const session = sessionOf(yield* initiateLarge(service, first))
        const listed = yield* sent(session)
        const here = yield* Effect.runtime()
        through[when] = (method, target) => {
          if (isComplete(method, target)) Runtime.runSync(here)(first.signal("SIGTERM"))
          return false
        }
        const path = `/v2/files/${session.id}/large-upload/complete`
        assert.strictEqual((yield* service.call(first, "POST", path, listed)).status, 200)
        assert.include([0, 130], yield* first.ended)
        assert.deepStrictEqual((yield* service.states).map(({ state }) => state), ["finalized"])
      }),
    240_000
  )

  it.scopedLive.each(["before", "after"] as const)(
    "end what has expired, if one is killed %s the store ends it",
    (when) =>
      Effect.gen(function*() {
        const service = yield* prepared
        const through = yield* Cluster.gate
        const first = yield* service.start({ ORPHANS: "2 seconds" }, through)
        killing(through, when, isAbort, () => first)
        const session = sessionOf(yield* initiateLarge(service, first))
        yield* first.ended
        const second = yield* service.start()
        yield* until("the other ends it", service.states, ([one]) => one?.state === "removed")
        const [row] = yield* service.states
        assert.deepStrictEqual(yield* service.store.opened(row?.key ?? ""), [])
        const late = yield* service.call(second, "POST", `/v2/files/${session.id}/large-upload/complete`, {
          upload_id: session.upload_id,
          parts: [{ part_number: 1, etag: "\"e\"" }]
        })
        assert.strictEqual(late.status, 404)
      }),
    240_000
  )

  it.scopedLive("answer pairs of Completes with one file", () =>
    Effect.gen(function*() {
      const service = yield* prepared
      const both = [yield* service.start(), yield* service.start()]
      const answers = yield* Effect.forEach(Array.from({ length: 20 }), () =>
        Effect.gen(function*() {
          const session = sessionOf(yield* initiateLarge(service, both[0] ?? (yield* Effect.die("no instance"))))
          const listed = yield* sent(session)
          return yield* Effect.forEach(
            both,
            (one) => service.call(one, "POST", `/v2/files/${session.id}/large-upload/complete`, listed),
            { concurrency: 2 }
          )
        }), { concurrency: 2 })
      assert.deepStrictEqual([...new Set(answers.flat().map(({ status }) => status))], [200])
      for (const pair of answers) assert.deepStrictEqual(pair[0]?.body, pair[1]?.body)
      assert.deepStrictEqual([...new Set((yield* service.states).map(({ state }) => state))], ["finalized"])
    }), 240_000)

  it.scopedLive(
    "go on, if one is frozen past its lease, and it does no harm when it wakes",
    () =>
      Effect.gen(function*() {
        const service = yield* prepared
        const through = yield* Cluster.gate
        const frozen = yield* service.start({}, through)
        const other = yield* service.start()
        const session = sessionOf(yield* initiateLarge(service, frozen))
        const listed = yield* sent(session)
        const path = `/v2/files/${session.id}/large-upload/complete`
        const here = yield* Effect.runtime()
        through.after = (method, target) => {
          if (isComplete(method, target)) Runtime.runSync(here)(frozen.signal("SIGSTOP"))
          return false
        }
        const asked = yield* Effect.fork(service.call(frozen, "POST", path, listed))
        yield* until("it completes", service.states, ([one]) => one?.state === "completing")
        const answer = yield* until(
          "the other has it",
          service.call(other, "POST", path, listed),
          ({ status }) => status === 200
        )
        yield* frozen.signal("SIGCONT")
        const late = yield* asked
        assert.deepStrictEqual([late.status, late.body], [200, answer.body])
        assert.strictEqual((yield* service.states)[0]?.state, "finalized")
      }),
    240_000
  )

  it.scopedLive(
    "say that they cannot answer while the store or the database is away, and go on afterwards",
    () =>
      Effect.gen(function*() {
        const service = yield* prepared
        const through = yield* Cluster.gate
        const one = yield* service.start({}, through)
        const ready = Effect.promise(() => fetch(`${one.baseUrl}/readyz`).then(({ status }) => status))
        const alive = Effect.promise(() => fetch(`${one.baseUrl}/livez`).then(({ status }) => status))
        const session = sessionOf(yield* initiateLarge(service, one))
        const listed = yield* sent(session)
        const path = `/v2/files/${session.id}/large-upload/complete`
        through.isShut = true
        assert.strictEqual(yield* ready, 503)
        assert.strictEqual((yield* service.call(one, "POST", path, listed)).status, 503)
        through.isShut = false
        yield* service.database.crash
        assert.deepStrictEqual([yield* ready, yield* alive], [503, 200])
        assert.strictEqual((yield* service.call(one, "GET", `/v1/files/${session.id}`)).status, 503)
        yield* Effect.sleep("30 seconds")
        yield* service.database.start
        yield* until("it is ready again", ready, (status) => status === 200)
        assert.strictEqual((yield* service.call(one, "POST", path, listed)).status, 200)
        assert.notMatch(one.output(), /X-Amz-Signature|stevedore-testing-secret|api\.\w{43}/)
      }),
    240_000
  )

  it.scopedLive(
    "get a file once from a client that lost the first answer of a store which takes it once",
    () =>
      Effect.gen(function*() {
        const service = yield* prepared
        const lossy = yield* Cluster.gate
        const one = yield* service.start({ STEVEDORE_SERVE_S3_PUBLIC_ENDPOINT: lossy.origin })
        let puts = 0
        lossy.after = (method) => method === "PUT" && ++puts === 1
        const bytes = new TextEncoder().encode("hello")
        const file = yield* Uploads.upload(UploadSources.fromBytes("notes.txt", bytes)).pipe(
          Effect.provide(NodeStevedore.layer({
            baseUrl: one.baseUrl,
            token: service.token,
            ledger: false,
            allowInsecureHttp: true,
            profile: ServiceProfile.extend(ServiceProfile.standard, {
              encryptionHeaders: { ...RealStore.encryptionHeaders, "if-none-match": "*" }
            })
          }))
        )
        assert.deepStrictEqual([puts, file.sent.sessions], [2, 1])
        assert.deepStrictEqual((yield* service.states).map(({ id, state }) => [id, state]), [[file.id, "finalized"]])
      }),
    240_000
  )

  it.scopedLive("begin 10,000 uploads that come at once, and list each of them once", () =>
    Effect.gen(function*() {
      const service = yield* prepared
      const both = [yield* service.start(), yield* service.start()]
      const at = (index: number) => Effect.fromNullable(both[index % 2])
      const begun = yield* Effect.forEach(
        Array.from({ length: 10_000 }, (_, index) => index),
        (index) =>
          Effect.flatMap(at(index), (one) =>
            service.call(one, "POST", "/v2/files/upload", { name: `file-${index}`, size: 1 })),
        { concurrency: 200 }
      )
      assert.deepStrictEqual([
        ...new Set(begun.map(({ status }) =>
          status
        ))
      ], [201])
      const ids = begun.map(({ body }) => body.data?.id ?? "").sort()
      assert.strictEqual(new Set(ids).size, 10_000)
      assert.deepStrictEqual((yield* service.states).map(({ id }) => id).sort(), ids)
      // as if each had been completed
      yield* service.sql("update stevedore_file set state = 'finalized', settled_at = created_at")
      let listed: ReadonlyArray<string> = []
      let cursor = ""
      for (let page = 0; page < 100; page++) {
        const path = `/v1/files?page[limit]=100${
          cursor === "" ? "" : `&page[start_cursor]=${encodeURIComponent(cursor)}`
        }`
        const { body } = yield* service.list(yield* at(page), path)
        assert.strictEqual(body.page.total_count, 10_000)
        assert.strictEqual(body.page.has_more, page < 99)
        listed = [...listed, ...body.data.map(({ id }) => id)]
        cursor = body.page.next_cursor ?? ""
      }
      assert.deepStrictEqual([...listed].sort(), ids)
    }), 240_000)

  it.scopedLive("share one limit, exactly", () =>
    Effect.gen(function*() {
      const service = yield* prepared
      const env = { STEVEDORE_SERVE_RATE_LIMIT: "30/hour" }
      const both = [yield* service.start(env), yield* service.start(env)]
      const statuses = yield* Effect.forEach(
        Array.from({ length: 100 }, (_, index) => both[index % 2]),
        (one) =>
          one === undefined
            ? Effect.succeed(0)
            : Effect.map(service.call(one, "GET", "/v1/token/info"), ({ status }) => status),
        { concurrency: 16 }
      )
      assert.strictEqual(statuses.filter((status) => status === 200).length, 30)
      assert.strictEqual(statuses.filter((status) => status === 429).length, 70)
    }), 240_000)
})
