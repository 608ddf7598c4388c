import { HttpClient, HttpClientResponse } from "@effect/platform"
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
import { FaultScript, Recorder, Sandbox, SandboxHttp, SandboxLayer } from "@stevedore/testing"
import { Console, Effect, identity, Layer, Redacted, Schedule, Stream } from "effect"
import { quotations } from "../../fixtures/quotations.js"
import { inTime, sourceOf } from "../../fixtures/uploads.js"

const token = "api.a-token-that-nobody-may-see"

/** Keeps every signature that goes to storage, to know what to look for. */
const watchingSignatures = (
  signatures: Array<string>,
  quoting: (client: HttpClient.HttpClient) => HttpClient.HttpClient
) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) =>
      HttpClient.tapRequest(quoting(client), (request) =>
        Effect.sync(() => {
          const signature = /X-Amz-Signature=([0-9a-f]+)/i.exec(request.url)?.[1]
          if (signature !== undefined) signatures.push(signature)
        })))
  ).pipe(Layer.provide(SandboxHttp.layerClient))

const small = { minimumPartSize: 10, recommendedPartSize: 10 }

const layer = (
  signatures: Array<string>,
  faults: FaultScript.FaultScript,
  quoting: (client: HttpClient.HttpClient) => HttpClient.HttpClient = identity
) =>
  Layer.mergeAll(ServiceApi.layer, HttpObjectStorage.layer, TransferGate.layer()).pipe(
    Layer.provide(
      Layer.unwrapEffect(
        Effect.map(
          Sandbox.Sandbox,
          ({ baseUrl, token }) => ServiceConfig.layer({ baseUrl, token, profile: SandboxLayer.profileOf(small) })
        )
      )
    ),
    Layer.provide(watchingSignatures(signatures, quoting)),
    Layer.provideMerge(
      Sandbox.layerMemory({ ...small, token: Redacted.make(token), faults, projects: 3 })
    ),
    Layer.merge(Recorder.layer)
  )

const observed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  inTime(effect).pipe(
    Timeouts.with({ connect: "5 seconds", stall: "5 seconds", answer: "5 seconds" }),
    Effect.exit,
    Effect.tap(Recorder.record),
    Effect.tap(Console.log)
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
      const signatures: Array<string> = []
      return Effect.gen(function*() {
        const ledger = yield* UploadLedger.makeMemory({ keepUrls: false })
        yield* observed(upload).pipe(Effect.provideService(UploadLedger.UploadLedger, ledger))
        yield* observed(Stream.runCollect(Lists.projects()))
        yield* Recorder.record(yield* ledger.unfinished)
        yield* Recorder.expectNoSecret(token, ...signatures)
        const texts = yield* Effect.flatMap(Recorder.Recorder, (recorder) => recorder.texts)
        assert.isTrue(texts.every(({ text }) => !/X-Amz-(Date|Expires)=/i.test(text)))
        assert.include(yield* Recorder.spans, "Uploads.upload")
        // where nothing goes wrong, nothing is logged
        for (const place of name === "nothing" ? ["span", "console", "value"] : ["log", "span", "console", "value"]) {
          assert.isTrue(texts.some((text) => text.place === place), `nothing was recorded of a ${place}`)
        }
        if (name !== "an initiate that fails") assert.isAbove(signatures.length, 0)
      }).pipe(Effect.provide(layer(signatures, faults[name] ?? FaultScript.empty)))
    }
  )

  it.effect.each(Object.entries(quotations))(
    "an upload to a service and a storage that quote the token and a signature %s shows neither",
    ([, quoted]) => {
      const signatures: Array<string> = []
      let url = ""
      const quoting = (client: HttpClient.HttpClient) =>
        HttpClient.transform(client, (sent, request) =>
          Effect.map(sent, (response) => {
            if (request.method === "PUT") url = request.url
            if (response.status < 400) return response
            const isStorage = request.method === "PUT"
            // storage never gets the token
            const quotation = (isStorage ? [url] : [token, url])
              .map((secret) => `of ${quoted(secret)} and ${quoted(`Bearer ${secret}`)}.`)
              .join(" ")
            const headers = Object.fromEntries(
              ["deprecation", "link", "x-request-id", "x-amz-request-id"].map((
                name
              ) => [name, quotation.replaceAll("\n", " ").replaceAll("\u00ad", "")])
            )
            const issue = { code: quotation, title: quotation, message: quotation, path: [quotation] }
            const body = isStorage
              ? `<Error><Code>${quotation}</Code><Message>${quotation}</Message></Error>`
              : JSON.stringify({ errors: [issue, { ...issue, message: null, path: quotation }] })
            return HttpClientResponse.fromWeb(request, new Response(body, { status: response.status, headers }))
          }))
      return Effect.gen(function*() {
        yield* observed(upload)
        yield* Recorder.record(yield* Effect.flatMap(ServiceApi.ServiceApi, ({ deprecations }) => deprecations))
        const texts = yield* Effect.flatMap(Recorder.Recorder, (recorder) => recorder.texts)
        assert.isTrue(texts.some(({ place, text }) => place === "log" && text.includes("has deprecated")))
        assert.isTrue(texts.some(({ place, text }) => place === "value" && text.includes("RequestRejected")))
        const secrets = [token, url, ...signatures]
        yield* Recorder.expectNoSecret(...secrets)
        for (const secret of secrets) {
          assert.isTrue(texts.every(({ text }) => !text.includes(quoted(secret))))
        }
      }).pipe(
        Effect.provide(layer(
          signatures,
          FaultScript.on("putPart").answer(503, "SlowDown").and(FaultScript.on("complete").always().answer(422)),
          quoting
        ))
      )
    }
  )

  it.effect("the search finds a secret when there is one", () =>
    Effect.gen(function*() {
      yield* observed(Effect.logDebug(`Bearer ${token}`).pipe(Effect.withSpan("leaky")))
      const shown = yield* Effect.flip(Recorder.expectNoSecret(token))
      assert.strictEqual(shown._tag, "SecretShown")
      assert.notInclude(shown.message, token)
    }).pipe(Effect.provide(Recorder.layer)))
})
