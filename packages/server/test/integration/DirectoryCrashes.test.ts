import { assert, describe, it } from "@effect/vitest"
import { Config, Data, Effect, Exit, Option, Schedule, Schema, Scope } from "effect"
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Processes from "../support/processes.js"

/** Where the program is that makes a namespace. */
const searchPath = process.env["PATH"] ?? ""

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "stevedore-crashes-"))),
  (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
)

/** A service over a directory that is started again, on the same port, whenever it is not there. */
class Service {
  #scope: Scope.CloseableScope | undefined
  #instance: Processes.Instance | undefined
  starts = 0

  constructor(readonly program: string, readonly directory: string) {}

  readonly started = Effect.gen(this, function*() {
    if (this.#instance !== undefined) return this.#instance
    const port = this.#port
    const scope = yield* Scope.make()
    const instance = yield* Scope.extend(
      Processes.instance(this.program, { DIRECTORY: this.directory, ...(port === "" ? {} : { PORT: port }) }),
      scope
    )
    this.#port = new URL(instance.baseUrl).port
    this.#scope = scope
    this.#instance = instance
    this.starts++
    return instance
  })

  #port = ""

  readonly killed = Effect.gen(this, function*() {
    const scope = this.#scope
    this.#instance = undefined
    if (scope !== undefined) yield* Scope.close(scope, Exit.void)
  })

  get token(): string {
    return readFileSync(join(this.directory, "token"), "utf8")
  }
}

interface Answer {
  readonly status: number
  readonly body: Buffer
  readonly etag: string
}

/** The answer, or none if the connection broke. The body goes in two halves: `between` happens when the first has gone. */
const sent = (
  method: string,
  url: string,
  headers: Record<string, string>,
  body: Buffer | undefined,
  between: () => void
) =>
  Effect.async<Option.Option<Answer>>((resume) => {
    const call = request(url, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { "content-length": String(body.length) }) }
    }, (answer) => {
      const chunks: Array<Buffer> = []
      answer.on("data", (chunk: Buffer) => chunks.push(chunk))
      answer.on("error", () => resume(Effect.succeedNone))
      answer.on("end", () =>
        resume(
          Effect.succeed(
            answer.complete
              ? Option.some({
                status: answer.statusCode ?? 0,
                body: Buffer.concat(chunks),
                etag: answer.headers.etag ?? ""
              })
              : Option.none()
          )
        ))
    })
    call.on("error", () => resume(Effect.succeedNone))
    const half = Math.floor((body?.length ?? 0) / 2)
    call.write(body?.subarray(0, half) ?? "", () => {
      between()
      call.end(body?.subarray(half))
    })
  })

interface Answered {
  readonly status: number
  readonly text: string
}

class NotAnswered extends Data.TaggedError("NotAnswered")<{ readonly step: string }> {}

const Session = Schema.parseJson(Schema.Struct({
  data: Schema.Struct({
    id: Schema.String,
    upload_url: Schema.optional(Schema.String),
    upload_id: Schema.optional(Schema.String),
    urls: Schema.optional(Schema.Array(Schema.String))
  })
}))

const List = Schema.parseJson(Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) }))

const steps = ["initiate", "put", "complete", "initiate large", "part 1", "part 2", "complete large", "remove"] as const

type Step = typeof steps[number]

/** When after the beginning of a step the process is killed, in milliseconds; before its second half, where there is none. */
const delays = [undefined, 0, 1, 3, 10, 30]

/** In bytes: over 5 MiB. */
const LARGE_PART = 5_500_000

const encryption = { "x-amz-server-side-encryption": "aws:kms" }

describe("a service over a directory that is killed", () => {
  it.scopedLive("has lost nothing that it acknowledged, and has nothing twice", () =>
    Effect.gen(function*() {
      const kills = yield* Config.withDefault(Config.integer("STEVEDORE_KILLS"), 16)
      const program = yield* Processes.script("directoryInstance")
      const service = new Service(program, join(yield* folder, "data"))
      yield* Effect.addFinalizer(() => service.killed)
      const expected = new Map<string, Buffer>()

      const life = (round: number) =>
        Effect.gen(function*() {
          const victim = steps[round % steps.length]
          const delay = delays[Math.floor(round / steps.length) % delays.length]
          let isKilled = false
          /** A step is asked again until it is answered: its process may die under it, once. */
          const step = (name: Step, method: string, url: string, body?: Buffer) =>
            Effect.gen(function*() {
              for (let attempt = 0; attempt < 3; attempt++) {
                const { baseUrl } = yield* service.started
                const kill = Effect.suspend(() => {
                  isKilled = true
                  return Effect.zipRight(Effect.sleep(delay ?? 0), service.killed)
                })
                const strikes = name === victim && !isKilled
                const half = { gone: () => {} }
                const reached = new Promise<void>((done) => (half.gone = done))
                const striking = yield* Effect.fork(
                  strikes
                    ? Effect.zipRight(delay === undefined ? Effect.promise(() => reached) : Effect.void, kill)
                    : Effect.void
                )
                const headers = url.startsWith("/")
                  ? { authorization: `Bearer ${service.token}`, "content-type": "application/json" }
                  : name === "put"
                  ? encryption
                  : {}
                const answer = yield* sent(
                  method,
                  url.startsWith("/") ? `${baseUrl}${url}` : url,
                  headers,
                  body,
                  half.gone
                )
                yield* striking.await
                if (Option.isSome(answer)) return answer.value
              }
              return yield* new NotAnswered({ step: name })
            })
          const answered = (name: Step, status: ReadonlyArray<number>, ...call: [string, string, Buffer?]) =>
            Effect.tap(step(name, ...call), (answer) =>
              Effect.sync(() =>
                assert.include(status, answer.status, `round ${round}, killed at ${victim}, ${name}: ${answer.body}`)
              ))
          const session = (answer: Answer) =>
            Effect.map(Schema.decode(Session)(String(answer.body)), ({ data }) => data)
          const content = Buffer.from(`content of ${round} `.repeat(3000))
          const declared = Buffer.from(JSON.stringify({ name: `small ${round}`, size: content.length }))
          const small = yield* Effect.flatMap(
            answered("initiate", [201], "POST", "/v2/files/upload", declared),
            session
          )
          yield* answered("put", [200], "PUT", small.upload_url ?? "", content)
          yield* answered("complete", [200], "POST", `/v2/files/${small.id}/upload/complete`)
          expected.set(small.id, content)
          // as large as real ones where the process dies in one
          const bytes = victim === "part 1" || victim === "part 2" || victim === "complete large"
            ? Buffer.alloc(2 * LARGE_PART, `content of ${round} `)
            : content
          const large = yield* Effect.flatMap(
            answered(
              "initiate large",
              [201],
              "POST",
              "/v2/files/large-upload",
              Buffer.from(JSON.stringify({ name: `large ${round}`, size: bytes.length, parts: 2 }))
            ),
            session
          )
          const middle = bytes.length / 2
          const one = yield* answered("part 1", [200], "PUT", large.urls?.[0] ?? "", bytes.subarray(0, middle))
          const two = yield* answered("part 2", [200], "PUT", large.urls?.[1] ?? "", bytes.subarray(middle))
          const parts = [one, two].map(({ etag }, index) => ({ part_number: index + 1, etag }))
          yield* answered(
            "complete large",
            [200],
            "POST",
            `/v2/files/${large.id}/large-upload/complete`,
            Buffer.from(JSON.stringify({ upload_id: large.upload_id, parts }))
          )
          expected.set(large.id, bytes)
          // asked again after its answer was lost, it is gone
          yield* answered("remove", [204, 404], "DELETE", `/v1/files/${small.id}`)
          expected.delete(small.id)
          assert.isTrue(isKilled)
          if (round % 4 !== 3) return
          // what was there before is there still, each once
          yield* service.killed
          const { baseUrl } = yield* service.started
          const headers = { authorization: `Bearer ${service.token}` }
          const read = (path: string) =>
            Effect.flatMap(
              sent("GET", `${baseUrl}${path}`, headers, undefined, () => {}),
              (answer) => Option.isSome(answer) ? Effect.succeed(answer.value) : new NotAnswered({ step: path })
            )
          const { data } = yield* Schema.decode(List)(String((yield* read("/v1/files?page[limit]=100")).body))
          assert.deepStrictEqual(data.map(({ id }) => id).sort(), [...expected.keys()].sort().slice(0, 100))
          for (const [id, whole] of expected) {
            const answer = yield* read(`/v1/files/${id}/download`)
            assert.strictEqual(answer.status, 200, `round ${round}: ${id}: ${answer.body}`)
            assert.isTrue(answer.body.equals(whole), `round ${round}: ${id}`)
          }
        })
      for (let round = 0; round < kills; round++) yield* life(round)
      assert.isAtLeast(service.starts, kills)
    }), 900_000)

  it.scopedLive("is had by one of two containers on one volume", () =>
    Effect.gen(function*() {
      const program = yield* Processes.script("directoryInstance")
      const directory = join(yield* folder, "data")
      const within = ["unshare", "--pid", "--fork", "--kill-child"]
      mkdirSync(directory, { mode: 0o700 })
      // the number of another's process that lives
      writeFileSync(join(directory, "lock"), "1")
      const first = yield* Processes.instance(
        program,
        { DIRECTORY: directory, PATH: searchPath },
        within
      )
      const second = yield* Effect.flip(
        Processes.instance(program, { DIRECTORY: directory, PATH: searchPath }, within)
      )
      assert.match(second.output, /process \d+ on \S+ serves .* already/)
      yield* first.signal("SIGKILL")
      yield* first.ended
      yield* Processes.instance(program, { DIRECTORY: directory })
    }), 60_000)

  it.scopedLive("goes on from a first start for which there was no room", () =>
    Effect.gen(function*() {
      const program = yield* Processes.script("directoryInstance")
      const disk = yield* folder
      yield* Effect.acquireRelease(
        Effect.sync(() => execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk])),
        () => Effect.sync(() => execFileSync("umount", ["-l", disk]))
      )
      // some sizes end in the middle of a file, and some between two
      for (const left of [0, 1, 2, 4, 8, 16, 40]) {
        const directory = join(disk, `data-${left}`)
        execFileSync("sh", ["-c", `dd if=/dev/zero of=${disk}/ballast bs=4096 count=256 2>/dev/null || true`])
        execFileSync("truncate", ["-s", `-${left * 4096}`, join(disk, "ballast")])
        const exit = yield* Effect.exit(Effect.scoped(Processes.instance(program, { DIRECTORY: directory })))
        rmSync(join(disk, "ballast"))
        yield* Effect.scoped(Effect.gen(function*() {
          yield* Processes.instance(program, { DIRECTORY: directory })
          assert.match(readFileSync(join(directory, "signing-key"), "utf8"), /^[0-9A-Za-z]{43}$/)
          assert.match(readFileSync(join(directory, "token"), "utf8"), /^api\.[0-9A-Za-z]{43}$/)
        }))
        rmSync(directory, { recursive: true })
        if (left === 0) assert.isTrue(Exit.isFailure(exit))
      }
    }), 120_000)

  it.scopedLive(
    "is emptied by removals, and starts, on a disk that another program has filled",
    () =>
      Effect.gen(function*() {
        const program = yield* Processes.script("directoryInstance")
        const disk = yield* folder
        yield* Effect.acquireRelease(
          Effect.sync(() => execFileSync("mount", ["-t", "tmpfs", "-o", "size=24m", "tmpfs", disk])),
          () => Effect.sync(() => execFileSync("umount", ["-l", disk]))
        )
        const directory = join(disk, "data")
        const fill = () =>
          execFileSync("sh", ["-c", `dd if=/dev/zero of=${disk}/ballast-$$ bs=4096 2>/dev/null || true`])
        const running = (
          body: (
            call: (method: string, url: string, sent?: string) => Effect.Effect<Answered>
          ) => Effect.Effect<ReadonlyArray<string>, unknown>
        ) =>
          Effect.scoped(Effect.gen(function*() {
            const { baseUrl } = yield* Processes.instance(program, { DIRECTORY: directory })
            const authorization = `Bearer ${readFileSync(join(directory, "token"), "utf8")}`
            return yield* body((method, url, sent) =>
              Effect.promise(() =>
                fetch(url.startsWith("/") ? `${baseUrl}${url}` : url, {
                  method,
                  headers: url.startsWith("/") ? { authorization } : encryption,
                  body: sent ?? null
                }).then(async (answer) => ({ status: answer.status, text: await answer.text() }))
              )
            )
          }))
        const ids = yield* running((call) =>
          Effect.gen(function*() {
            const stored = yield* Effect.forEach(Array.from({ length: 6 }), () =>
              Effect.gen(function*() {
                const { text } = yield* call("POST", "/v2/files/upload", JSON.stringify({ name: "a", size: 500_000 }))
                const { data } = yield* Schema.decode(Session)(text)
                assert.strictEqual((yield* call("PUT", data.upload_url ?? "", "x".repeat(500_000))).status, 200)
                assert.strictEqual((yield* call("POST", `/v2/files/${data.id}/upload/complete`)).status, 200)
                return data.id
              }))
            fill()
            const [first = "", ...others] = stored
            const kept = Effect.sync(() => statSync(join(directory, "reserve"), { throwIfNoEntry: false })?.size ?? 0)
            assert.isAbove(yield* kept, 200_000)
            assert.strictEqual((yield* call("DELETE", `/v1/files/${first}`)).status, 204)
            yield* Effect.repeat(kept, { schedule: Schedule.spaced("100 millis"), until: (size) => size > 200_000 })
            fill()
            return others
          })
        )
        yield* running((call) =>
          Effect.gen(function*() {
            const [first = "", second = ""] = ids
            fill()
            assert.strictEqual((yield* call("DELETE", `/v1/files/${first}`)).status, 204)
            assert.strictEqual((yield* call("GET", `/v1/files/${second}/download`)).text.length, 500_000)
            return []
          })
        )
      }),
    120_000
  )

  it.scopedLive(
    "says that there is no room, to the end of a body that has none, and goes on",
    () =>
      Effect.gen(function*() {
        const program = yield* Processes.script("directoryInstance")
        const disk = yield* folder
        yield* Effect.acquireRelease(
          Effect.sync(() => execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", disk])),
          () => Effect.sync(() => execFileSync("umount", ["-l", disk]))
        )
        const directory = join(disk, "data")
        const { baseUrl } = yield* Processes.instance(program, { DIRECTORY: directory })
        const token = readFileSync(join(directory, "token"), "utf8")
        const call = (method: string, path: string, body?: string) =>
          Effect.promise(() =>
            fetch(path.startsWith("/") ? `${baseUrl}${path}` : path, {
              method,
              headers: path.startsWith("/") ? { authorization: `Bearer ${token}` } : encryption,
              ...(body === undefined ? {} : { body })
            }).then(async (answer) => ({ status: answer.status, text: await answer.text() }))
          )
        const opened = (size: number) =>
          Effect.gen(function*() {
            const { text } = yield* call("POST", "/v2/files/upload", JSON.stringify({ name: "a", size }))
            const { data } = yield* Schema.decode(Session)(text)
            return { id: data.id, put: call("PUT", data.upload_url ?? "", "x".repeat(size)) }
          })
        const larger = yield* call("POST", "/v2/files/upload", JSON.stringify({ name: "a", size: 20_000_000 }))
        assert.strictEqual(larger.status, 507)
        // there is room for each of them, and not for both
        const [fitting, large] = yield* Effect.all([opened(2_000_000), opened(2_000_000)])
        assert.strictEqual((yield* fitting.put).status, 200)
        const put = yield* large.put
        assert.deepStrictEqual([put.status, /<Code>(\w+)/.exec(put.text)?.[1]], [
          507,
          "InsufficientStorage"
        ])
        const small = yield* opened(500_000)
        assert.strictEqual((yield* small.put).status, 200)
        assert.strictEqual((yield* call("POST", `/v2/files/${small.id}/upload/complete`)).status, 200)
        assert.strictEqual((yield* call("GET", `/v1/files/${small.id}/download`)).text.length, 500_000)
      }),
    60_000
  )
})
