import { NodeContext } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import * as Reports from "@stevedore/cli/Reports"
import * as SandboxServer from "@stevedore/cli/SandboxServer"
import type { UploadLedger } from "@stevedore/core"
import { DiskLedger } from "@stevedore/node"
import { FaultScript, type SandboxOptions } from "@stevedore/testing"
import { Context, Effect, Layer, Option, Random, Redacted, Schema } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { createHash } from "node:crypto"
import * as Fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { command } from "./bundle.js"

const searchPath = process.env.PATH

const number = (variable: string, otherwise: number): number => Number(process.env[variable] ?? otherwise)

// For a longer run: STEVEDORE_KILLS=100 STEVEDORE_KILL_MEGABYTES=300. A run is repeated with STEVEDORE_KILL_SEED.
const kills = number("STEVEDORE_KILLS", 10)
const size = number("STEVEDORE_KILL_MEGABYTES", 40) * 1_000_000
const seed = number("STEVEDORE_KILL_SEED", Date.now() % 1_000_000_007)

const mebibyte = 1_048_576
const concurrency = 4

const directory = Effect.acquireRelease(
  Effect.promise(() => Fs.mkdtemp(join(tmpdir(), "stevedore-kill-"))),
  (path) => Effect.promise(() => Fs.rm(path, { recursive: true, force: true }))
)

/** Asks until it is so, for half a minute at the most. */
const soon = <A, R>(
  effect: Effect.Effect<A, never, R>,
  isSo: (value: A) => boolean,
  patience = 3_000
): Effect.Effect<A, never, R> =>
  Effect.flatMap(effect, (value) =>
    isSo(value) || patience === 0
      ? Effect.succeed(value)
      : Effect.zipRight(Effect.sleep("10 millis"), soon(effect, isSo, patience - 1)))

const digest = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** The command, and a file for it. */
class Prepared extends Context.Tag("test/Prepared")<Prepared, {
  readonly words: ReadonlyArray<string>
  readonly path: string
  readonly digest: string
}>() {}

const prepared = Layer.scoped(
  Prepared,
  Effect.gen(function*() {
    const home = yield* directory
    const words = yield* Effect.promise(() => command(join(home, "bundle")))
    const path = join(home, "interview.mp4")
    const bytes = new Uint8Array(size)
    for (let index = 0, state = seed | 1; index < size; index += 4) {
      state = Math.imul(state, 1_664_525) + 1_013_904_223
      for (let byte = 0; byte < 4; byte++) bytes[index + byte] = state >>> (byte * 8)
    }
    yield* Effect.promise(() => Fs.writeFile(path, bytes))
    return { words, path, digest: digest(bytes) }
  })
)

/** A user's machine, with nothing written down yet. */
const machine = Effect.gen(function*() {
  const state = yield* directory
  const ledger = yield* DiskLedger.make({ directory: join(state, "stevedore") })
  return { ...yield* Prepared, state, ledger }
})

type Machine = Effect.Effect.Success<typeof machine>

/** A sandbox that tells of every request as it arrives. */
const sandboxOf = (behaviour: Partial<SandboxOptions.Options> = {}) =>
  Effect.gen(function*() {
    let onArrival: (operation: string) => void = () => {}
    const sandbox = yield* SandboxServer.start(
      { port: 0, storagePort: 0, directory: Option.none(), token: Option.none(), projects: 0 },
      {
        interceptor: ({ operation }) =>
          Effect.sync(() => {
            onArrival(operation)
            return Option.none()
          }),
        ...behaviour
      }
    )
    const requests = Effect.map(sandbox.report, (report) => report.requests)
    return {
      ...sandbox,
      requests,
      /** What a client that is dead had sent is dealt with. */
      quiet: soon(requests, (all) => all.every(({ outcome }) => outcome !== "open")),
      arrival: (of: (operation: string) => boolean) =>
        Effect.async<void>((resume) => {
          onArrival = (operation) => {
            if (!of(operation)) return
            onArrival = () => {}
            resume(Effect.void)
          }
        })
    }
  })

type SandboxOfTest = Effect.Effect.Success<ReturnType<typeof sandboxOf>>

const start = (machine: Machine, sandbox: SandboxOfTest, words: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, [...machine.words, ...words], {
        env: {
          PATH: searchPath,
          HOME: machine.state,
          XDG_STATE_HOME: machine.state,
          LOCALAPPDATA: machine.state,
          STEVEDORE_BASE_URL: sandbox.baseUrl,
          STEVEDORE_TOKEN: Redacted.value(sandbox.token)
        },
        stdio: ["ignore", "pipe", "pipe"]
      })
      return { child, ended: endOf(child) }
    }),
    ({ child, ended }) =>
      Effect.promise(() => {
        child.kill("SIGKILL")
        return ended
      })
  )

const endOf = (child: ChildProcess): Promise<Ended> =>
  new Promise((resolve) => {
    let stdout = ""
    let stderr = ""
    child.stdout?.setEncoding("utf8").on("data", (text: string) => stdout += text)
    child.stderr?.setEncoding("utf8").on("data", (text: string) => stderr += text)
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }))
  })

const uploadWords = ({ path }: Machine, parts = Math.floor(size / (5 * mebibyte))) => [
  "upload",
  "--concurrency",
  `${concurrency}`,
  path,
  "--strategy",
  "multipart",
  "--parts",
  `${parts}`,
  "--json"
]

interface Kill {
  /** Milliseconds after the first request, or after Complete arrived. */
  readonly after: number
  readonly atComplete: boolean
}

/** Runs the command, and kills it, if it still runs then. */
const runKilled = (machine: Machine, sandbox: SandboxOfTest, kill: Option.Option<Kill>) =>
  Effect.scoped(Effect.gen(function*() {
    const { child, ended } = yield* start(machine, sandbox, uploadWords(machine))
    const over = Effect.promise(() => ended)
    yield* Effect.raceFirst(sandbox.arrival(() => true), over)
    const began = performance.now()
    if (Option.isSome(kill)) {
      const { after, atComplete } = kill.value
      if (atComplete) yield* Effect.raceFirst(sandbox.arrival((operation) => operation === "completeLarge"), over)
      yield* Effect.raceFirst(Effect.sleep(after), over)
      child.kill("SIGKILL")
    }
    const result = yield* Effect.promise(() => ended)
    yield* sandbox.quiet
    return { ...result, took: performance.now() - began }
  }))

/** A process that died once its file was in the manifest leaves nothing to send: the next one says that it is there. */
const uploadedIn = (stdout: string): string | undefined =>
  stdout.split("\n").filter((line) => line !== "")
    .map((line) => Schema.decodeSync(Schema.parseJson(Reports.UploadReport))(line))
    .flatMap((report) =>
      report.type === "completed" ? [report.file.id] : report.type === "skipped" ? [report.fileId] : []
    )[0]

const onlyUnfinished = (ledger: UploadLedger.Service) =>
  Effect.map(ledger.unfinished, (all) => {
    assert.isAtMost(all.length, 1)
    return Option.fromNullable(all[0])
  })

interface Tally {
  /** What an upload takes that nobody kills, in milliseconds. */
  duration: number
  kills: number
  uploads: number
  sent: number
  inFlight: number
  lostReceipts: number
  sessions: number
  /** How many kills found the upload so. */
  found: Record<"before the session" | "uploading" | "completing" | "done", number>
}

/** One in five while Complete is on its way, which is soon over; the others evenly over the time of an upload. */
const randomKill = (duration: number) =>
  Effect.gen(function*() {
    const atComplete = (yield* Random.next) < 0.2
    return { atComplete, after: yield* Random.nextRange(0, atComplete ? 20 : duration) }
  })

/** One upload from its beginning to its end, by as many processes as it takes. */
const history = (machine: Machine, tally: Tally) =>
  Effect.gen(function*() {
    const sandbox = yield* sandboxOf()
    const most = Math.min(yield* Random.nextIntBetween(1, 5), kills - tally.kills)
    const confirmed = new Map<string, Set<number>>()
    let seen = 0
    let killed = 0
    let inFlight = 0
    let beforeSession = 0
    let fileId: string | undefined

    while (fileId === undefined) {
      const fresh = confirmed.size === 0
      const kill = killed < most ? Option.some(yield* randomKill(tally.duration)) : Option.none()
      const { code, signal, stderr, stdout, took } = yield* runKilled(machine, sandbox, kill)
      const requests = yield* sandbox.requests
      const news = requests.slice(seen)
      seen = requests.length
      const puts = news.filter(({ operation }) => operation === "putPart")
      for (const { fileId, part } of puts) {
        assert.isFalse(
          confirmed.get(fileId ?? "")?.has(part ?? 0) === true,
          `part ${part} was confirmed and sent again`
        )
      }
      const sent = puts.reduce((sum, { bytesReceived }) => sum + bytesReceived, 0)
      tally.sent += sent
      const unfinished = yield* onlyUnfinished(machine.ledger)
      const finalized = requests.find(({ operation, status }) => operation === "completeLarge" && status === 200)

      if (signal === null) {
        assert.strictEqual(code, 0, stderr)
        if (fresh) tally.duration = Math.min(tally.duration, took)
        fileId = uploadedIn(stdout)
        assert.isDefined(fileId)
        assert.isTrue(Option.isNone(unfinished))
        continue
      }
      killed += 1
      tally.kills += 1
      if (Option.isNone(unfinished)) {
        tally.found[finalized === undefined ? "before the session" : "done"] += 1
        if (finalized === undefined) {
          beforeSession += 1
          assert.lengthOf(puts, 0)
        }
        fileId = finalized?.fileId
        continue
      }
      const { receipts, record } = unfinished.value
      tally.found[record.phase] += 1
      const known = new Set(receipts.map(({ partNumber }) => partNumber))
      confirmed.set(record.session.fileId, known)
      const lost = puts.filter(({ part }) => !known.has(part ?? 0))
      const bytesLost = lost.reduce((sum, { bytesReceived }) => sum + bytesReceived, 0)
      const partSize = Math.ceil(size / record.session.parts)
      assert.isAtMost(bytesLost, concurrency * partSize)
      inFlight += bytesLost
      tally.inFlight += bytesLost
      tally.lostReceipts += lost.filter(({ status }) => status === 200).length
    }

    assert.strictEqual(digest(yield* sandbox.stored(fileId)), machine.digest)
    const { breaches, requests } = yield* sandbox.report
    assert.deepStrictEqual(breaches, [])
    const sent = requests.filter(({ operation }) => operation === "putPart")
      .reduce((sum, { bytesReceived }) => sum + bytesReceived, 0)
    assert.isAtMost(sent, size + inFlight)
    const sessions = requests.filter(({ operation }) => operation === "initiateLarge").length
    assert.isAtMost(sessions, 1 + beforeSession)
    tally.sessions += sessions
    tally.uploads += 1
  }).pipe(Effect.scoped)

const seconds = (count: number) => count * 1000

layer(Layer.provideMerge(prepared, NodeContext.layer), { excludeTestServices: true, timeout: "1 minute" })(
  "stevedore upload, killed with SIGKILL",
  (it) => {
    it.scoped(
      `resumes when run again after ${kills} kills at random instants of ${size / 1_000_000} MB (seed ${seed})`,
      () =>
        Effect.gen(function*() {
          const here = yield* machine
          const began = performance.now()
          const { took } = yield* Effect.scoped(
            Effect.flatMap(sandboxOf(), (sandbox) => runKilled(here, sandbox, Option.none()))
          )
          const tally: Tally = {
            duration: took,
            kills: 0,
            uploads: 0,
            sent: 0,
            inFlight: 0,
            lostReceipts: 0,
            sessions: 0,
            found: { "before the session": 0, uploading: 0, completing: 0, done: 0 }
          }
          while (tally.kills < kills) yield* history(here, tally)
          console.log(JSON.stringify({
            seed,
            megabytes: size / 1_000_000,
            ...tally,
            duration: Math.round(tally.duration),
            seconds: Math.round((performance.now() - began) / 100) / 10
          }))
        }).pipe(Effect.withRandom(Random.make(seed))),
      seconds(60 + kills * Math.max(10, size / 10_000_000))
    )

    it.scoped(
      "holds its lock while it runs, then is listed with its confirmed parts and can be resumed",
      () =>
        Effect.gen(function*() {
          const here = yield* machine
          const sandbox = yield* sandboxOf({
            faults: FaultScript.on("putPart").part(3).stall("answer")
          })
          const listed = Effect.scoped(Effect.gen(function*() {
            const { ended } = yield* start(here, sandbox, ["uploads", "--json"])
            const { stdout } = yield* Effect.promise(() => ended)
            return yield* Schema.decode(Schema.parseJson(Reports.Unfinished))(stdout)
          }))
          yield* Effect.scoped(Effect.gen(function*() {
            yield* start(here, sandbox, uploadWords(here, 7))
            const receipts = yield* soon(
              Effect.map(
                onlyUnfinished(here.ledger),
                Option.match({ onNone: () => [], onSome: ({ receipts }) => receipts })
              ),
              (all) => all.length === 6
            )
            assert.lengthOf(receipts, 6)
            assert.isTrue((yield* listed).running)
            const second = yield* Effect.scoped(
              Effect.flatMap(start(here, sandbox, uploadWords(here, 7)), ({ ended }) => Effect.promise(() => ended))
            )
            assert.strictEqual(second.code, 1)
            assert.include(second.stdout, "UploadLocked")
            assert.match(second.stderr, /is already being uploaded.* with --no-resume/)
            assert.notInclude(second.stdout + second.stderr, "resume: false")
          }))
          const { confirmed, name, parts, phase, running } = yield* listed
          assert.deepStrictEqual({ name, parts, phase, running }, {
            name: "interview.mp4",
            parts: { total: 7, confirmed: 6 },
            phase: "uploading",
            running: false
          })
          assert.isAbove(confirmed, 0)
          const third = yield* runKilled(here, sandbox, Option.none())
          assert.strictEqual(third.code, 0, third.stderr)
          const fileId = uploadedIn(third.stdout) ?? ""
          assert.strictEqual(digest(yield* sandbox.stored(fileId)), here.digest)
          const requests = yield* sandbox.requests
          assert.lengthOf(requests.filter(({ operation }) => operation === "initiateLarge"), 1)
          assert.lengthOf(requests.filter(({ operation }) => operation === "putPart"), 8)
        }).pipe(Effect.provide(NodeContext.layer)),
      seconds(60 + size / 5_000_000)
    )
  }
)
