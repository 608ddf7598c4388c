/**
 * Object storage over XMLHttpRequest, the only way to send from a page that reports upload progress.
 *
 * @since 0.1.0
 */
import { ConnectionFailed } from "@stevedore/core/ConnectionError"
import type { GetAnswer, GetRequest, PutReceipt, PutRequest, Service } from "@stevedore/core/ObjectStorage"
import { checkDeadline, ObjectStorage } from "@stevedore/core/ObjectStorage"
import * as PresignedUrl from "@stevedore/core/PresignedUrl"
import type { SourceChanged, SourceError } from "@stevedore/core/SourceError"
import type { StorageError } from "@stevedore/core/StorageError"
import * as Transport from "@stevedore/core/Transport"
import type { ChunkObserver } from "@stevedore/core/UploadSource"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { touch } from "./internal/blobReader.js"
import type { Answered } from "./internal/xhr.js"
import * as Xhr from "./internal/xhr.js"

/** Origins that have answered this page: a failure there is not caused by CORS. */
type Known = Set<string>

interface Body {
  readonly blob: Blob
  readonly observed: Effect.Effect<void, SourceError>
}

const isInOwnMemory = (bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> => bytes.buffer instanceof ArrayBuffer

const blobOf = (bytes: Uint8Array): Blob => new Blob([isInOwnMemory(bytes) ? bytes : new Uint8Array(bytes)])

const bodyOf = (
  { name, section }: PutRequest,
  observe: ChunkObserver
): Effect.Effect<Body, SourceError, Scope.Scope> =>
  Effect.flatMap(section.body(observe), (body): Effect.Effect<Body, SourceError> => {
    switch (body._tag) {
      case "BlobBody":
        return Effect.succeed(body)
      case "BytesBody":
        return Effect.succeed({ blob: blobOf(body.bytes), observed: Effect.void })
      case "StreamBody":
        // the browser keeps each Blob, and their whole, off the page's heap
        return Effect.map(
          Stream.runCollect(Stream.map(body.stream, blobOf)),
          (pieces) => ({ blob: new Blob([...pieces]), observed: Effect.void })
        )
      case "NativeBody":
        return Effect.dieMessage(`The source of ${name} has a body that no browser can send`)
    }
  })

const checkLength = (request: PutRequest, { size }: Blob): Effect.Effect<void, SourceChanged> =>
  size === request.section.range.length ? Effect.void : Effect.fail(Transport.otherLength(request, size))

// A browser does not say why there was no response. `put` checks the file first. If no response from the origin has
// ever been readable, CORS may be the reason.
const unanswered = (
  { attempt, url }: Pick<PutRequest, "attempt" | "url">,
  known: Known
): ConnectionFailed =>
  new ConnectionFailed({
    peer: "storage",
    origin: url.origin,
    arrived: "unknown",
    ...(navigator.onLine ? {} : { code: "OFFLINE" }),
    ...(known.has(url.origin) || !navigator.onLine ? {} : { hint: "cors" as const }),
    attempts: attempt
  })

// XMLHttpRequest always follows redirects; they can only be detected. A response from another URL does not come from
// where the URL was signed for.
const receiptOf = (
  answered: Answered,
  href: string,
  asked: Transport.AskedPut
): Either.Either<PutReceipt, StorageError> =>
  answered.url === "" || answered.url === new URL(href).href
    ? Transport.interpretPut(answered, asked)
    : Either.left(Transport.rejected({ ...answered, status: 307 }, asked))

const put = (known: Known) => (request: PutRequest): Effect.Effect<PutReceipt, StorageError | SourceError> =>
  Effect.gen(function*() {
    yield* checkDeadline(request, yield* Clock.currentTimeMillis)
    const { respelled } = yield* Transport.spelling(request)
    const body = yield* bodyOf(request, () => {})
    yield* checkLength(request, body.blob)
    const href = PresignedUrl.reveal(request.url)
    const observing = yield* Effect.forkScoped(body.observed)
    const touched = touch(request.name, body.blob)
    const answered = yield* Xhr.put({ href, headers: request.headers, body: body.blob, onSent: request.onSent }).pipe(
      Effect.mapError(() => unanswered(request, known)),
      Effect.tapError(() => touched),
      // In Firefox and WebKit, a request whose file was emptied waits for the bytes that there are no more
      Effect.raceFirst(Effect.zipRight(Fiber.join(observing), Effect.forever(Effect.delay(touched, "5 seconds"))))
    )
    known.add(request.url.origin)
    const receipt = yield* receiptOf(answered, href, {
      url: request.url,
      sentHeaders: [...Object.keys(request.headers), "content-length"],
      serverNow: (yield* Clock.currentTimeMillis) + request.clockOffset,
      attempts: request.attempt,
      respelled
    })
    yield* Fiber.join(observing)
    // of a request that a browser repeats, it tells nobody, and the first may still arrive after the second
    return { ...receipt, perhapsRepeated: true }
  }).pipe(Effect.scoped, Transport.tracedPut(request))

const failedOn = (request: GetRequest, known: Known) => () => unanswered(request, known)

const fetched = (request: GetRequest, known: Known): Effect.Effect<Response, StorageError, Scope.Scope> =>
  Effect.gen(function*() {
    const controller = yield* Effect.acquireRelease(
      Effect.sync(() => new AbortController()),
      (controller) => Effect.sync(() => controller.abort())
    )
    return yield* Effect.tryPromise({
      try: () =>
        fetch(PresignedUrl.reveal(request.url), {
          headers: Transport.rangeHeaders(request),
          credentials: "omit",
          // a page cannot see where one leads; it carries no token, and no cookie
          redirect: "follow",
          cache: "no-store",
          referrerPolicy: "no-referrer",
          signal: controller.signal
        }),
      catch: failedOn(request, known)
    })
  })

const get = (known: Known) => (request: GetRequest): Effect.Effect<GetAnswer, StorageError, Scope.Scope> =>
  Effect.gen(function*() {
    yield* Transport.spelling(request)
    const response = yield* fetched(request, known)
    known.add(request.url.origin)
    const headers = Object.fromEntries(response.headers)
    const held = Transport.held({ status: response.status, headers }, request)
    if (Option.isSome(held)) {
      const { body } = response
      const bytes = body === null ? Stream.empty : Stream.fromReadableStream({
        evaluate: () => body,
        onError: failedOn(request, known)
      })
      return { ...held.value, bytes }
    }
    const answer: Transport.StorageAnswer = {
      status: response.status,
      headers,
      // content other than the requested may be as large as the file
      body: response.ok ? "" : yield* Effect.tryPromise(() => response.text()).pipe(
        Effect.map((text) => text.slice(0, Transport.longestDocument)),
        Effect.catchAll(() => Effect.succeed(""))
      )
    }
    const refusal = Transport.refusal(request, answer, yield* Clock.currentTimeMillis)
    return yield* Effect.fail(refusal._tag === "Redirected" ? refusal.refusal : refusal)
  }).pipe(Transport.tracedGet(request))

/**
 * Object storage for a page. A body is a slice of a file, which the browser reads by itself; the checksum of a part is
 * computed alongside from the same slice. Requests carry no trace headers and no cookies to another origin, and each
 * URL is used exactly as given. A GET sends no referrer. The referrer of a PUT follows the page's `Referrer-Policy`,
 * which is the page's origin alone unless it says more, because XMLHttpRequest cannot omit it.
 *
 * A request without a response fails with `ConnectionFailed`, because a browser does not say whether the network or
 * CORS was the cause. The error has `hint: "cors"` until a response from that origin has been readable. `EtagMissing`
 * says that the bucket's CORS rules do not expose the `ETag` header.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<Service> = Effect.sync(() => {
  const known: Known = new Set()
  return { put: put(known), get: get(known) }
})

/**
 * {@link make} as a layer. `BrowserStevedore.layer` has it already.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<ObjectStorage> = Layer.effect(ObjectStorage, make)
