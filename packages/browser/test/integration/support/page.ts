// What runs in the page: the tests drive it through `window.stevedore`.
import { BlobSource, BrowserStevedore } from "@stevedore/browser"
import { RetryPolicy, ServiceProfile, Timeouts, type UploadOptions, Uploads } from "@stevedore/core"
import { Cause, Effect, Exit, Fiber, Layer, Logger, Option, Stream } from "effect"
import * as QueuePage from "./queuePage.js"

export interface Wishes {
  /** Omitted: the file that was chosen. */
  readonly generate?: { readonly name: string; readonly size: number }
  readonly baseUrl?: string
  readonly options?: UploadOptions.UploadOptions
  readonly retry?: RetryPolicy.Options
  readonly timeouts?: Timeouts.Options
  readonly ledger?: BrowserStevedore.Options["ledger"]
  /** Omitted: those of the standard profile. */
  readonly encryptionHeaders?: Readonly<Record<string, string>>
}

export type Outcome =
  | { readonly _tag: "Uploaded"; readonly id: string; readonly sent: Uploads.UploadedFile["sent"] }
  | { readonly _tag: "Failed"; readonly error: string; readonly message: string; readonly fields: object }
  | { readonly _tag: "Interrupted" }
  | { readonly _tag: "Died"; readonly cause: string }

export interface Point {
  readonly phase: string
  readonly sent: number
  readonly confirmed: number
}

const chosen = (): File => {
  const file = document.querySelector("input")?.files?.item(0)
  if (file === null || file === undefined) throw new Error("no file was chosen")
  return file
}

// Not compressible, and the same each time.
const generated = (size: number): Blob => {
  const block = new Uint32Array(Math.ceil(Math.min(size, 1 << 20) / 4))
  let state = 1
  for (let index = 0; index < block.length; index++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    block[index] = state
  }
  return new Blob(Array.from({ length: Math.ceil(size / block.byteLength) }, () => block)).slice(0, size)
}

const points: Array<Point> = []
const logs: Array<string> = []
let handle: Uploads.UploadHandle | undefined
let fiber: Fiber.RuntimeFiber<Uploads.UploadedFile, unknown> | undefined

const logger = Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => logs.push(String(message))))

const layerOf = ({ baseUrl, encryptionHeaders, ledger, retry, timeouts }: Wishes) =>
  BrowserStevedore.layer({
    baseUrl: baseUrl ?? "/api",
    ledger,
    profile: ServiceProfile.extend(
      ServiceProfile.standard,
      encryptionHeaders === undefined ? {} : { encryptionHeaders }
    )
  }).pipe(
    Layer.provide(RetryPolicy.layer({ base: "50 millis", cap: "500 millis", ...retry })),
    Layer.provide(Timeouts.layer(timeouts ?? {})),
    Layer.provideMerge(logger)
  )

const program = (wishes: Wishes) =>
  Effect.gen(function*() {
    const { generate } = wishes
    const source = yield* generate === undefined
      ? BlobSource.fromFile(chosen())
      : BlobSource.fromBlob(generated(generate.size), { name: generate.name })
    const upload = yield* Uploads.start(source, wishes.options)
    handle = upload
    const watching = yield* upload.progress.changes.pipe(
      Stream.runForEach(({ confirmed, phase, sent }) => Effect.sync(() => points.push({ phase, sent, confirmed }))),
      Effect.forkScoped
    )
    return yield* Effect.ensuring(upload.await, Fiber.join(watching))
  }).pipe(Effect.scoped, Effect.provide(layerOf(wishes)))

const isObject = (value: unknown): value is { readonly [field: string]: unknown } =>
  typeof value === "object" && value !== null

const outcomeOf = (exit: Exit.Exit<Uploads.UploadedFile, unknown>): Outcome => {
  if (Exit.isSuccess(exit)) return { _tag: "Uploaded", id: exit.value.id, sent: exit.value.sent }
  const failure = Option.getOrUndefined(Cause.failureOption(exit.cause))
  if (isObject(failure)) {
    const { _tag, message } = failure
    return {
      _tag: "Failed",
      error: String(_tag),
      message: String(message),
      fields: JSON.parse(JSON.stringify(failure))
    }
  }
  return Cause.isInterruptedOnly(exit.cause)
    ? { _tag: "Interrupted" }
    : { _tag: "Died", cause: Cause.pretty(exit.cause) }
}

const api = {
  start: (wishes: Wishes): void => {
    points.length = 0
    handle = undefined
    fiber = Effect.runFork(program(wishes))
  },
  outcome: async (): Promise<Outcome> => {
    if (fiber === undefined) throw new Error("nothing was started")
    return outcomeOf(await Effect.runPromise(Fiber.await(fiber)))
  },
  upload: async (wishes: Wishes): Promise<Outcome> => {
    api.start(wishes)
    return api.outcome()
  },
  points: (): ReadonlyArray<Point> => points,
  logs: (): ReadonlyArray<string> => logs,
  confirmed: (): number => points.at(-1)?.confirmed ?? 0,
  cancel: (): Promise<void> => Effect.runPromise(handle?.cancel ?? Effect.void),
  pause: (): Promise<void> => Effect.runPromise(handle?.pause ?? Effect.void),
  resume: (): Promise<void> => Effect.runPromise(handle?.resume ?? Effect.void),
  unfinished: () => Effect.runPromise(Effect.provide(Uploads.unfinished, layerOf({}))),
  resumeChosen: async (id: string): Promise<Outcome> =>
    outcomeOf(
      await Effect.runPromiseExit(
        Effect.flatMap(BlobSource.fromFile(chosen()), (source) => Uploads.resume(id, source)).pipe(
          Effect.provide(layerOf({}))
        )
      )
    )
}

export type PageApi = typeof api

declare global {
  interface Window {
    readonly stevedore: PageApi
  }
}

Object.assign(window, { stevedore: api, queue: QueuePage.api })
