import { HttpClient } from "@effect/platform"
import {
  HttpObjectStorage,
  ObjectStorage,
  RetryPolicy,
  ServiceApi,
  ServiceConfig,
  ServiceProfile,
  Timeouts,
  TransferGate,
  UploadError,
  UploadLedger,
  Uploads,
  type UploadSource
} from "@stevedore/core"
import {
  Cause,
  Context,
  Effect,
  Exit,
  Fiber,
  FiberRef,
  Logger,
  LogLevel,
  Option,
  Random,
  Redacted,
  Schema,
  type Scope,
  Stream
} from "effect"
import type { Disk } from "./Disk.js"
import type { Look, Outcome, Run } from "./History.js"
import type { Network } from "./Network.js"
import type { Printing } from "./Printing.js"
import { limits, type UploadCase } from "./Scenario.js"
import type { SimulatedSource } from "./Sources.js"
import { serviceOrigin, token, type World } from "./World.js"

const config = ServiceConfig.ServiceConfig.of({
  baseUrl: `${serviceOrigin}/api`,
  token: Redacted.make(token),
  profile: ServiceProfile.extend(ServiceProfile.standard, { limits })
})

const isUploadError = Schema.is(UploadError.UploadError)

type UploadExit = Exit.Exit<Uploads.UploadedFile, UploadError.UploadError>

/** The program that a history runs in each life of its process: uploads, and the people who watch and stop them. */
export class Program {
  constructor(
    private readonly world: World,
    private readonly network: Network,
    private readonly disk: Disk,
    private readonly printing: Printing,
    private readonly sources: ReadonlyMap<string, SimulatedSource>
  ) {}

  private outcomeOf(exit: UploadExit): Outcome {
    return Exit.match(exit, {
      onSuccess: (file): Outcome => {
        this.printing.print("answer", file)
        return { _tag: "Uploaded", file }
      },
      onFailure: (cause): Outcome => {
        const failure = Cause.failureOption(cause)
        if (Option.isSome(failure) && isUploadError(failure.value)) {
          this.printing.error(failure.value, cause)
          return { _tag: "Failed", error: failure.value }
        }
        return Cause.isInterruptedOnly(cause)
          ? { _tag: "Interrupted" }
          : { _tag: "Died", cause: Cause.pretty(cause) }
      }
    })
  }

  private settle(run: Run, exit: UploadExit): void {
    run.settled ??= this.world.moment()
    run.outcome ??= this.outcomeOf(exit)
  }

  private begin(one: UploadCase): Run {
    const run: Run = {
      life: this.world.life,
      name: one.source.name,
      options: one.options,
      started: this.world.moment(),
      looks: [],
      events: []
    }
    this.world.history.runs.push(run)
    this.sources.get(one.source.name)?.beginSession(this.world.life)
    return run
  }

  private look(run: Run, { confirmed, parts, phase, sent, size }: Omit<Look, "step" | "at">): void {
    if (this.world.process.isAlive) run.looks.push({ ...this.world.moment(), confirmed, parts, phase, sent, size })
  }

  // Less and less often, so that an upload of hours costs no more than one of seconds
  private looks(run: Run, handle: Uploads.UploadHandle, millis = 50): Effect.Effect<void> {
    return Effect.sleep(millis).pipe(
      Effect.zipRight(handle.progress.get),
      Effect.flatMap((progress) => {
        this.look(run, progress)
        return this.looks(run, handle, millis * 1.5)
      })
    )
  }

  // As a page that shows each sample does
  private samples(run: Run, handle: Uploads.UploadHandle): Effect.Effect<void> {
    return Stream.runForEach(Stream.take(handle.progress.changes, 50), (progress) =>
      Effect.sync(() => {
        this.look(run, progress)
        this.printing.print("progress", progress)
      }))
  }

  private told(run: Run, handle: Uploads.UploadHandle): Effect.Effect<void> {
    return Stream.runForEach(handle.events, (event) =>
      Effect.sync(() => {
        run.events.push(event._tag)
        this.printing.print("event", event)
        if (event._tag === "Failed") this.printing.inspected("event", event)
      }))
  }

  // What its user does, by the steps of the life
  private plan(one: UploadCase, run: Run, stop: Effect.Effect<unknown>): void {
    const { interrupt } = one
    if (interrupt?.life !== this.world.life) return
    this.world.afterSteps(interrupt.afterSteps, () => {
      if (run.settled !== undefined) return
      this.world.met("interrupted")
      run.interrupted = this.world.moment()
      this.world.process.fork(stop)
    })
  }

  private planPause({ pause }: UploadCase, run: Run, handle: Uploads.UploadHandle): void {
    if (pause?.life !== this.world.life) return
    const { process, timeline } = this.world
    this.world.afterSteps(pause.afterSteps, () => {
      if (run.settled !== undefined) return
      this.world.met("paused")
      run.paused = this.world.moment()
      process.fork(handle.pause)
      timeline.after(pause.millis, () => {
        run.resumed = this.world.moment()
        if (process.isAlive) process.fork(handle.resume)
      })
    })
  }

  private one(one: UploadCase): Effect.Effect<void, never, Uploads.Requirements> {
    const source = this.sources.get(one.source.name)?.source(this.world.life)
    if (source === undefined) return Effect.void
    const upload = Effect.suspend(() => {
      const run = this.begin(one)
      return one.way === "upload" ? this.byUpload(one, run, source) : this.byHandle(one, run, source)
    })
    return one.delay === 0 ? upload : Effect.zipRight(Effect.sleep(one.delay), upload)
  }

  private byUpload(one: UploadCase, run: Run, source: UploadSource) {
    if (one.interrupt === undefined) {
      return Effect.map(Effect.exit(Uploads.upload(source, one.options)), (exit) => this.settle(run, exit))
    }
    return Effect.flatMap(Effect.fork(Uploads.upload(source, one.options)), (fiber) => {
      this.plan(one, run, Fiber.interrupt(fiber))
      return Effect.map(Fiber.await(fiber), (exit) => this.settle(run, exit))
    })
  }

  private byHandle(one: UploadCase, run: Run, source: UploadSource) {
    return Effect.gen(this, function*() {
      const handle = yield* Uploads.start(source, one.options)
      const listening = one.watch === "events" ? yield* Effect.fork(this.told(run, handle)) : undefined
      const watching = yield* Effect.fork(
        one.watch === "samples" ? this.samples(run, handle) : this.looks(run, handle)
      )
      this.plan(one, run, handle.cancel)
      this.planPause(one, run, handle)
      this.settle(run, yield* Effect.exit(handle.await))
      if (listening !== undefined) yield* Fiber.await(listening)
      yield* Fiber.interrupt(watching)
      this.look(run, yield* handle.progress.get)
    }).pipe(Effect.scoped)
  }

  private together(files: number): Effect.Effect<void, never, Uploads.Requirements> {
    const [first] = this.world.scenario.uploads
    const runs = new Map<UploadSource, Run>()
    const found = this.world.scenario.uploads.flatMap((one) => {
      const source = this.sources.get(one.source.name)?.source(this.world.life)
      return source === undefined ? [] : [{ one, source }]
    })
    return Stream.fromIterable(found).pipe(
      Stream.rechunk(1),
      Stream.map(({ one, source }) => {
        runs.set(source, this.begin({ ...one, options: first.options }))
        return source
      }),
      (sources) => Uploads.uploadAll(sources, { ...first.options, parts: undefined, strategy: "auto", files }),
      Stream.runForEach((outcome) =>
        Effect.sync(() => {
          const run = runs.get(outcome.source)
          if (run === undefined) return
          this.settle(run, outcome._tag === "Uploaded" ? Exit.succeed(outcome.file) : Exit.fail(outcome.error))
        })
      )
    )
  }

  private get ledger(): Effect.Effect<UploadLedger.Service | undefined> {
    const { ledger } = this.world.scenario
    const none: UploadLedger.Service | undefined = undefined
    return ledger === "none"
      ? Effect.succeed(none)
      : UploadLedger.make({
        store: this.disk.store,
        lock: this.disk.lock,
        isHeld: this.disk.isHeld,
        keepUrls: ledger === "with URLs"
      })
  }

  // Built by hand: what layers cost would be half of a history
  private get services(): Effect.Effect<Context.Context<Uploads.Requirements>, never, Scope.Scope> {
    const { gate, isAdaptive, maxBufferedBytes, policy, timeouts } = this.world.scenario
    const outside = Context.make(HttpClient.HttpClient, this.network.client).pipe(
      Context.add(ServiceConfig.ServiceConfig, config)
    )
    return Effect.gen(this, function*() {
      const api = yield* ServiceApi.make()
      const storage = yield* HttpObjectStorage.make
      const ledger = yield* this.ledger
      return Context.make(ServiceApi.ServiceApi, api).pipe(
        Context.add(ObjectStorage.ObjectStorage, storage),
        Context.add(
          TransferGate.TransferGate,
          yield* TransferGate.make({ limit: gate, adaptive: isAdaptive, maxBufferedBytes })
        ),
        Context.add(RetryPolicy.RetryPolicy, RetryPolicy.make(policy)),
        Context.add(Timeouts.Timeouts, Timeouts.make(timeouts)),
        (context) => ledger === undefined ? context : Context.add(context, UploadLedger.UploadLedger, ledger)
      )
    }).pipe(Effect.provide(outside))
  }

  /** What runs in the present life. */
  get run(): Effect.Effect<void> {
    const { isPrinted, seed, together, uploads } = this.world.scenario
    const work = together !== undefined
      ? this.together(together)
      : uploads.length === 1
      ? this.one(uploads[0])
      : Effect.forEach(uploads, (one) => this.one(one), { concurrency: "unbounded", discard: true })
    const provided = Effect.flatMap(this.services, (services) => Effect.provide(work, services)).pipe(
      Effect.scoped,
      Effect.withRandom(Random.make(seed + this.world.life))
    )
    return isPrinted
      ? provided.pipe(
        Effect.provide(Logger.replace(Logger.defaultLogger, this.printing.logger)),
        Effect.withTracer(this.printing.tracer),
        Effect.withTracerEnabled(true),
        Logger.withMinimumLogLevel(LogLevel.Debug)
      )
      : Effect.locally(provided, FiberRef.currentMinimumLogLevel, LogLevel.None)
  }
}
