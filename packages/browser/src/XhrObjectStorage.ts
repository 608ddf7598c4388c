/**
 * Object storage over XMLHttpRequest, the only way to send from a page that reports upload progress, and over fetch where
 * there is none.
 */
import { ConnectionFailed } from "@stevedore/core/ConnectionError"
import type { PutRequest, Service } from "@stevedore/core/ObjectStorage"
import { ObjectStorage } from "@stevedore/core/ObjectStorage"
import * as Transport from "@stevedore/core/parts/transport"
import * as PresignedUrl from "@stevedore/core/PresignedUrl"
import type { SourceChanged, SourceError } from "@stevedore/core/SourceError"
import type { ChunkObserver } from "@stevedore/core/UploadSource"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { touch } from "./base/blobReader.js"
import { isOnline } from "./base/pageSignals.js"
import * as Xhr from "./base/xhr.js"
import type { Answered } from "./base/xhr.js"

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
    ...(!isOnline() ? { code: "OFFLINE" } : known.has(url.origin) ? {} : { hint: "cors" }),
    attempts: attempt
  })

// XMLHttpRequest always follows redirects; they can only be detected. A response from another URL does not come from
// where the URL was signed for.
const withoutRedirect = ({ url, ...answer }: Answered, href: string): Transport.StorageAnswer =>
  url === "" || url === new URL(href).href ? answer : { ...answer, status: 307 }

const bare = { credentials: "omit", referrerPolicy: "no-referrer" } as const

// Where there is no XMLHttpRequest. Nobody learns what of the body is sent: it counts as handed over at once.
const fetchPut = ({ body, headers, href, onSent }: Xhr.Put): Effect.Effect<Answered, Xhr.Unanswered> =>
  Effect.tryPromise({
    try: async (signal) => {
      onSent(body.size)
      const response = await fetch(href, { method: "PUT", headers, body, redirect: "manual", signal, ...bare })
      const document = await response.text()
      return {
        // a browser hides a redirect
        status: response.status === 0 ? 307 : response.status,
        headers: Object.fromEntries(response.headers),
        body: document.slice(0, Transport.longestDocument),
        url: response.url
      }
    },
    catch: (): Xhr.Unanswered => "unanswered"
  })

const putOnce: typeof Xhr.put = (request) => "XMLHttpRequest" in globalThis ? Xhr.put(request) : fetchPut(request)

const put = (known: Known): Transport.StorageTransport["put"] => (request) =>
  Effect.gen(function*() {
    const body = yield* bodyOf(request, () => {})
    yield* checkLength(request, body.blob)
    const href = PresignedUrl.reveal(request.url)
    const observing = yield* Effect.forkScoped(body.observed)
    const touched = touch(request.name, body.blob)
    const answered = yield* putOnce({ href, headers: request.headers, body: body.blob, onSent: request.onSent }).pipe(
      Effect.mapError(() => unanswered(request, known)),
      Effect.tapError(() => touched),
      // In Firefox and WebKit, a request whose file was emptied waits for the bytes that there are no more
      Effect.raceFirst(Effect.zipRight(Fiber.join(observing), Effect.forever(Effect.delay(touched, "5 seconds"))))
    )
    known.add(request.url.origin)
    const answer = withoutRedirect(answered, href)
    if (answer.status < 300) yield* Fiber.join(observing)
    // of a request that a browser repeats, it tells nobody, and the first may still arrive after the second
    return { ...answer, sent: body.blob.size, perhapsRepeated: true }
  })

const get = (known: Known): Transport.StorageTransport["get"] => (request, headers) =>
  Effect.gen(function*() {
    const controller = yield* Effect.acquireRelease(
      Effect.sync(() => new AbortController()),
      (controller) => Effect.sync(() => controller.abort())
    )
    const onError = () => unanswered(request, known)
    const response = yield* Effect.tryPromise({
      try: () =>
        fetch(PresignedUrl.reveal(request.url), {
          headers,
          // a page cannot see where one leads; it carries no token, and no cookie
          redirect: "follow",
          cache: "no-store",
          signal: controller.signal,
          ...bare
        }),
      catch: onError
    })
    known.add(request.url.origin)
    const { body, status } = response
    return {
      status,
      headers: Object.fromEntries(response.headers),
      bytes: body === null ? Stream.empty : Stream.fromReadableStream({ evaluate: () => body, onError }),
      document: Effect.tryPromise(() => response.text()).pipe(
        Effect.map((text) => text.slice(0, Transport.longestDocument)),
        Effect.orElseSucceed(() => "")
      )
    }
  })

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
 * Without XMLHttpRequest, as in a service worker, Bun, Deno and workerd, a body is sent by fetch, which reports no
 * progress within a part.
 *
 * @category constructors
 */
export const make: Effect.Effect<Service> = Effect.sync(() => {
  const known: Known = new Set()
  return Transport.storageOver({ put: put(known), get: get(known), isExact: false, redirects: Transport.refused })
})

/**
 * {@link make} as a layer. `BrowserStevedore.layer` has it already.
 *
 * @category layers
 */
export const layer: Layer.Layer<ObjectStorage> = Layer.effect(ObjectStorage, make)
