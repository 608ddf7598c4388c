import { HttpClientRequest } from "@effect/platform"
import { type HttpApp, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { type FileRecord, type Metadata, type ServiceApi } from "@stevedore/core"
import { StevedoreHttpApp, type UploadOutbox } from "@stevedore/node"
import { FaultScript, Sandbox, SandboxHttp } from "@stevedore/testing"
import { Effect, Logger, LogLevel, TestClock } from "effect"
import { setImmediate } from "node:timers/promises"

export type Called = readonly [hook: string, user: string, fileId: string, metadata: Metadata.Metadata]

export const content = new TextEncoder().encode("hello")

export const metadata = { album: "Rotterdam", "taken-by": "Ünïcode 🚢" }

export const described = { name: "a.txt", type: "text/plain", size: content.length, metadata }

export const quietly = Logger.withMinimumLogLevel(LogLevel.None)

export type App<R = never> = HttpApp.Default<never, ServiceApi.ServiceApi | R>

/** An app that notes what its hooks are called with. */
export const noting = (
  called: Array<Called>,
  options: {
    readonly outbox?: UploadOutbox.UploadOutbox<string>
    readonly hook?: (file: FileRecord.FileRecord) => Effect.Effect<void, string>
  } = {}
) => {
  const note = (hook: string) => (user: string, file: FileRecord.FileRecord, metadata: Metadata.Metadata) =>
    Effect.zipRight(
      Effect.sync(() => called.push([hook, user, file.id, metadata])),
      options.hook?.(file) ?? Effect.void
    )
  return StevedoreHttpApp.make({
    authorize: ({ cookies }) => Effect.fromNullable(cookies["user"]),
    completed: note("completed"),
    failed: note("failed"),
    outbox: options.outbox
  })
}

export const ask = <R>(served: App<R>, path: string, body?: unknown, user = "Ada") =>
  Effect.gen(function*() {
    const request = new Request(`http://localhost${path}`, {
      method: body === undefined && !path.endsWith("complete") ? "GET" : "POST",
      headers: { cookie: `user=${user}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const answer = yield* Effect.provideService(
      served,
      HttpServerRequest.HttpServerRequest,
      HttpServerRequest.fromWeb(request)
    )
    const text = yield* Effect.promise(() => HttpServerResponse.toWeb(answer).text())
    return { status: answer.status, json: text === "" ? undefined : JSON.parse(text) }
  })

/** Sends the bytes, as a page does. Gives the etag. */
export const put = (url: string, headers: Readonly<Record<string, string>>) =>
  Effect.gen(function*() {
    const client = SandboxHttp.client(yield* Sandbox.Sandbox)
    const answer = yield* Effect.scoped(
      client.execute(
        HttpClientRequest.put(url).pipe(
          HttpClientRequest.setHeaders(headers),
          HttpClientRequest.bodyUint8Array(content, headers["content-type"])
        )
      )
    )
    return answer.headers["etag"] ?? ""
  })

/** An upload whose bytes are in storage, and what is left to ask for. */
export const sent = <R>(served: App<R>, kind: "single" | "parts") =>
  Effect.gen(function*() {
    if (kind === "single") {
      const { json } = yield* ask(served, "/v2/files/upload", described)
      yield* put(json.data.upload_url, { "x-amz-server-side-encryption": "aws:kms", "content-type": "text/plain" })
      return { fileId: String(json.data.id), path: `/v2/files/${json.data.id}/upload/complete`, body: undefined }
    }
    const { json: { data } } = yield* ask(served, "/v2/files/large-upload", { ...described, parts: 1 })
    const etag = yield* put(data.urls[0], {})
    return {
      fileId: String(data.id),
      path: `/v2/files/${data.id}/large-upload/complete`,
      body: { upload_id: data.upload_id, parts: [{ part_number: 1, etag }] }
    }
  })

/** Longer than all that is lost in a test, and than the waits after it. Bodies are read by promises, which need a turn. */
export const aWhile = Effect.repeatN(
  Effect.zipRight(TestClock.adjust("30 seconds"), Effect.promise(() => setImmediate())),
  48
)

export const kinds = ["single", "parts"] as const

export const losses = {
  "its answer is lost": FaultScript.on("complete").loseAnswer(),
  "it cannot be reached": FaultScript.on("complete").reset(),
  "it answers 503": FaultScript.on("complete").answer(503),
  "it answers 429": FaultScript.on("complete").retryAfter(20),
  "a gateway answers 502": FaultScript.on("complete").html(502),
  "it never answers": FaultScript.on("complete").stall("answer")
}
