import { HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import {
  HttpObjectStorage,
  Lists,
  ServiceApi,
  ServiceConfig,
  Timeouts,
  TransferGate,
  UploadLedger,
  Uploads
} from "@stevedore/core"
import { FaultScript, Sandbox, SandboxHttp, SandboxLayer } from "@stevedore/testing"
import { Cause, Console, Effect, Exit, Layer, Logger, LogLevel, Redacted, Schedule, Stream, Tracer } from "effect"
import { inspect } from "node:util"
import { inTime, sourceOf } from "./fixtures/uploads.js"

const token = "api.a-token-that-nobody-may-see"

interface Captured {
  readonly text: Array<string>
  readonly signatures: Array<string>
}

const keep = (captured: Captured, ...texts: ReadonlyArray<string>): void => {
  for (const text of texts) captured.text.push(text)
}

const inEveryForm = (value: unknown): ReadonlyArray<string> => [
  String(value),
  inspect(value, { depth: 20, showHidden: true }),
  JSON.stringify(value) ?? "",
  ...(value instanceof Error ? [value.stack ?? "", value.message, JSON.stringify({ ...value })] : [])
]

const capturingTracer = (captured: Captured) => {
  const native = Effect.runSync(Effect.tracer)
  const keepValue = (value: unknown) => keep(captured, ...inEveryForm(value))
  return Tracer.make({
    ...native,
    span: (name, parent, context, links, startTime, kind) => {
      const span = native.span(name, parent, context, links, startTime, kind)
      keepValue(name)
      return new Proxy(span, {
        get: (target, key) => {
          if (key === "attribute") {
            return (attribute: string, value: unknown) => {
              keepValue(attribute)
              keepValue(value)
              target.attribute(attribute, value)
            }
          }
          if (key === "event") {
            return (event: string, at: bigint, attributes: Record<string, unknown>) => {
              keepValue(event)
              keepValue(attributes)
              target.event(event, at, attributes)
            }
          }
          if (key === "end") {
            return (at: bigint, exit: Exit.Exit<unknown, unknown>) => {
              keepValue(exit)
              if (Exit.isFailure(exit)) keep(captured, Cause.pretty(exit.cause, { renderErrorCause: true }))
              target.end(at, exit)
            }
          }
          return Reflect.get(target, key)
        }
      })
    }
  })
}

const capturingLogger = (captured: Captured) =>
  Logger.replace(
    Logger.defaultLogger,
    Logger.make((options) => {
      keep(
        captured,
        Logger.stringLogger.log(options),
        Logger.logfmtLogger.log(options),
        ...inEveryForm(Logger.structuredLogger.log(options)),
        ...inEveryForm(options.message),
        Cause.pretty(options.cause, { renderErrorCause: true })
      )
    })
  )

const capturingConsole = (captured: Captured): Console.Console => {
  const keepAll = (...values: ReadonlyArray<unknown>) =>
    Effect.sync(() => keep(captured, ...values.flatMap(inEveryForm)))
  return new Proxy(Effect.runSync(Effect.console), {
    get: (target, key) =>
      ["log", "error", "warn", "info", "debug"].includes(String(key)) ? keepAll : Reflect.get(target, key)
  })
}

/** Keeps every signature that goes to storage, to know what to look for. */
const watchingSignatures = (captured: Captured) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) =>
      HttpClient.tapRequest(client, (request) =>
        Effect.sync(() => {
          const signature = /X-Amz-Signature=([0-9a-f]+)/i.exec(request.url)?.[1]
          if (signature !== undefined) captured.signatures.push(signature)
        })))
  ).pipe(Layer.provide(SandboxHttp.layerClient))

const small = { minimumPartSize: 10, recommendedPartSize: 10 }

const layer = (captured: Captured, faults: FaultScript.FaultScript) =>
  Layer.mergeAll(ServiceApi.layer, HttpObjectStorage.layer, TransferGate.layer()).pipe(
    Layer.provide(
      Layer.unwrapEffect(
        Effect.map(
          Sandbox.Sandbox,
          ({ baseUrl, token }) => ServiceConfig.layer({ baseUrl, token, profile: SandboxLayer.profileOf(small) })
        )
      )
    ),
    Layer.provide(watchingSignatures(captured)),
    Layer.provideMerge(
      Sandbox.layerMemory({ ...small, token: Redacted.make(token), faults, projects: 3 })
    )
  )

const observed = <A, E, R>(captured: Captured, effect: Effect.Effect<A, E, R>) =>
  inTime(effect).pipe(
    Timeouts.with({ connect: "5 seconds", stall: "5 seconds", answer: "5 seconds" }),
    Effect.exit,
    Effect.tap((exit) => {
      keep(captured, ...inEveryForm(exit))
      if (Exit.isFailure(exit)) {
        keep(
          captured,
          Cause.pretty(exit.cause, { renderErrorCause: true }),
          ...inEveryForm(Cause.squash(exit.cause))
        )
      }
      return Console.log(exit)
    }),
    Effect.withConsole(capturingConsole(captured)),
    Effect.withTracer(capturingTracer(captured)),
    Effect.provide(capturingLogger(captured)),
    Logger.withMinimumLogLevel(LogLevel.All)
  )

const upload = Effect.scoped(Effect.gen(function*() {
  const handle = yield* Uploads.start(sourceOf(60), { strategy: "multipart", maxSessions: 2 })
  yield* handle.progress.changes.pipe(
    Stream.schedule(Schedule.spaced("20 seconds")),
    Stream.runForEach((progress) => Console.log(progress)),
    Effect.forkScoped
  )
  return yield* handle.await
}))

const faults: Record<string, FaultScript.FaultScript> = {
  "nothing": FaultScript.empty,
  "a 403": FaultScript.on("putPart").always().answer(403, "SignatureDoesNotMatch"),
  "URLs that end": FaultScript.on("putPart").always().expire(),
  "broken connections": FaultScript.on("putPart").always().reset(),
  "stalls": FaultScript.on("putPart").always().stall("body"),
  "pages of a proxy": FaultScript.on("putPart").always().html(502),
  "an unauthorized Complete": FaultScript.on("complete").always().answer(401),
  "lost answers": FaultScript.on("complete").always().loseAnswer().and(FaultScript.on("file").always().reset()),
  "an initiate that fails": FaultScript.on("initiateLarge").always().answer(500)
}

describe("no secret anywhere", () => {
  it.effect.each(Object.keys(faults))(
    "an upload that meets %s at debug level shows neither the token nor a signature",
    (name) => {
      const captured: Captured = { text: [], signatures: [] }
      return Effect.gen(function*() {
        const ledger = yield* UploadLedger.makeMemory({ keepUrls: false })
        yield* observed(captured, upload).pipe(Effect.provideService(UploadLedger.UploadLedger, ledger))
        yield* observed(captured, Stream.runCollect(Lists.projects()))
        keep(captured, ...inEveryForm(yield* ledger.unfinished))
        const everything = captured.text.join("\n")
        assert.isAbove(captured.text.length, 20)
        assert.include(everything, "Uploads.upload")
        assert.notInclude(everything, token)
        assert.notMatch(everything, /X-Amz-(Signature|Credential|Date|Expires)/i)
        if (name !== "an initiate that fails") assert.isAbove(captured.signatures.length, 0)
        for (const signature of captured.signatures) assert.notInclude(everything, signature)
      }).pipe(Effect.provide(layer(captured, faults[name] ?? FaultScript.empty)))
    }
  )

  it.effect("the search finds a secret when there is one", () => {
    const captured: Captured = { text: [], signatures: [] }
    return Effect.gen(function*() {
      yield* observed(captured, Effect.logDebug(`Bearer ${token}`).pipe(Effect.withSpan("leaky")))
      assert.include(captured.text.join("\n"), token)
    })
  })
})
