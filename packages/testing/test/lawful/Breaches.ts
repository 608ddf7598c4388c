/**
 * The opposite of a lawful service: for each sentence of the service contract, services that break it. Each changes the
 * responses of a plain sandbox on their way to the client.
 */
import { HttpClient, HttpClientResponse } from "@effect/platform"
import {
  Checksum,
  Downloads,
  Files,
  HttpObjectStorage,
  Lists,
  RetryPolicy,
  ServiceApi,
  ServiceConfig,
  Timeouts,
  TransferGate,
  Uploads,
  UploadSources
} from "@stevedore/core"
import { Cause, Context, Duration, Effect, Layer, Option, Predicate, Stream } from "effect"
import { Sandbox, SandboxHttp, SandboxLayer } from "../../src/index.js"
import type { Sentence } from "./Sentences.js"

type Fields = Readonly<Record<string, unknown>>

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

interface Asked {
  readonly method: string
  readonly url: URL
}

const notes = UploadSources.fromBytes("notes.txt", new Uint8Array(60).fill(7))

const film = UploadSources.fromBytes("film.mp4", Uint8Array.from({ length: 600 }, (_, index) => index & 0xff))

const small = Uploads.upload(notes, { strategy: "single" })

/** What a client does at the service. */
const programs = {
  small,
  verified: Uploads.upload(notes, { strategy: "single" }).pipe(Uploads.readBack(notes)),
  large: Uploads.upload(film, { strategy: "multipart", parts: 3 }),
  inspect: Effect.flatMap(small, ({ id }) => Files.inspect(id)),
  download: Effect.flatMap(small, ({ id }) => Stream.runDrain(Downloads.stream(id))),
  list: Stream.runDrain(Lists.projects({ pageSize: 5 }))
} as const

const at = {
  initiate: /^POST .*\/v2\/files\/upload$/,
  complete: /^POST .*\/upload\/complete$/,
  initiateLarge: /^POST .*\/v2\/files\/large-upload$/,
  completeLarge: /^POST .*\/large-upload\/complete$/,
  file: /^GET .*\/v1\/files\/[^/]+$/,
  download: /^GET .*\/download$/,
  list: /^GET .*\/v1\/projects/,
  put: /^PUT /
} as const

/** A service that breaks a sentence, and what becomes of a client that meets it. */
export interface Breach {
  readonly sentence: Sentence
  /** What the service does. */
  readonly does: string
  readonly at: keyof typeof at
  /** What becomes of a response, or what is sent instead of asking the sandbox. */
  readonly change: Answer | ((answer: Answer, asked: Asked) => Answer)
  readonly program: keyof typeof programs
  /** The tag of the error, and what its message says. */
  readonly refused: readonly [tag: string, says: RegExp]
}

const fieldsOf = (value: unknown): Fields => Predicate.isRecord(value) ? Object.fromEntries(Object.entries(value)) : {}

const written = (answer: Answer, json: unknown): Answer => ({
  ...answer,
  headers: { ...answer.headers, "content-length": "" },
  body: new TextEncoder().encode(JSON.stringify(json))
})

const jsonOf = ({ body }: Answer): Fields => fieldsOf(JSON.parse(new TextDecoder().decode(body)))

/** Changes what a response says in its envelope. */
const said = (change: (data: Fields) => Fields) => (answer: Answer): Answer =>
  answer.status >= 300 ? answer : written(answer, { data: change(fieldsOf(jsonOf(answer)["data"])) })

const without = (field: string) => said(({ [field]: _, ...rest }) => rest)

const having = (field: string, value: unknown) => said((data) => ({ ...data, [field]: value }))

const urlsOf = (change: (urls: ReadonlyArray<unknown>) => unknown) =>
  said((data) => ({ ...data, urls: change(Array.isArray(data["urls"]) ? data["urls"] : []) }))

const paged = (change: (page: Fields) => Fields) => (answer: Answer): Answer => {
  const json = jsonOf(answer)
  return written(answer, { ...json, page: change(fieldsOf(json["page"])) })
}

const status = (value: number, text = ""): Answer => ({
  status: value,
  headers: {},
  body: new TextEncoder().encode(text)
})

const text = (value: string) => (answer: Answer): Answer => ({ ...answer, body: new TextEncoder().encode(value) })

const withoutEtag = ({ headers: { etag: _, ...headers }, ...rest }: Answer): Answer => ({ ...rest, headers })

const xml = (code: string, message: string): string =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`

const row = (
  sentence: Sentence,
  does: string,
  where: Breach["at"],
  change: Breach["change"],
  by: Breach["program"],
  refused: Breach["refused"]
): Breach => ({ sentence, does, at: where, change, program: by, refused })

/** A client refuses each of these, and its error says what is wrong. */
export const breaches: ReadonlyArray<Breach> = [
  row("O1", "no upload_url", "initiate", without("upload_url"), "small", ["InvalidResponse", /upload_url/]),
  row("O1", "upload_url is null", "initiate", having("upload_url", null), "small", ["InvalidResponse", /upload_url/]),
  row("O1", "upload_url is a path", "initiate", having("upload_url", "/put/1"), "small", [
    "InvalidResponse",
    /upload_url/
  ]),
  row("O1", "no JSON", "initiate", text("<p>OK"), "small", ["InvalidResponse", /JSON/]),
  row("O1", "nothing", "initiate", text(""), "small", ["InvalidResponse", /nothing/]),
  row("O2", "no id to complete by", "initiate", without("id"), "small", ["InvalidResponse", /\bid\b/]),
  row("O2", "no such path", "complete", status(404), "small", ["NotFound", /completeUpload/]),
  row("O2", "refused with 409", "complete", status(409), "small", ["UploadConflict", /upload failed/]),
  row("O3", "the declared size is refused", "initiateLarge", status(400), "large", ["RequestRejected", /400/]),
  row("O3", "no such path", "initiateLarge", status(404), "large", ["NotFound", /initiateLargeUpload/]),
  row("O4", "no upload_id", "initiateLarge", without("upload_id"), "large", ["InvalidResponse", /upload_id/]),
  row("O4", "upload_id is null", "initiateLarge", having("upload_id", null), "large", [
    "InvalidResponse",
    /upload_id/
  ]),
  row("O5", "no urls", "initiateLarge", without("urls"), "large", ["InvalidResponse", /urls/]),
  row("O5", "urls is empty", "initiateLarge", having("urls", []), "large", ["InvalidResponse", /urls/]),
  row("O5", "urls is one text", "initiateLarge", having("urls", "https://one.test/"), "large", [
    "InvalidResponse",
    /urls/
  ]),
  row("O5", "one of the urls is null", "initiateLarge", urlsOf(([first, ...rest]) => [first, null, ...rest]), "large", [
    "InvalidResponse",
    /urls/
  ]),
  row(
    "O5",
    "the same URL twice",
    "initiateLarge",
    urlsOf(([first, ...rest]) => [first, first, ...rest.slice(1)]),
    "large",
    [
      "InvalidResponse",
      /urls/
    ]
  ),
  row(
    "O5",
    "a part number twice",
    "initiateLarge",
    urlsOf((urls) => urls.map((url) => ({ url, part_number: 1 }))),
    "large",
    ["InvalidResponse", /urls/]
  ),
  row(
    "O5",
    "more URLs than bytes",
    "initiateLarge",
    urlsOf(() => Array.from({ length: 601 }, (_, index) => `https://storage.sandbox.test/${index}`)),
    "large",
    ["InvalidResponse", /urls/]
  ),
  row("O6", "no such path", "completeLarge", status(404), "large", ["NotFound", /completeLargeUpload/]),
  row("O6", "the etags are refused", "completeLarge", status(400), "large", ["RequestRejected", /completeLargeUpload/]),
  row("O7", "no record", "file", text("<p>OK"), "inspect", ["InvalidResponse", /JSON/]),
  row("O7", "no such path", "file", status(404), "inspect", ["NotFound", /file/]),
  row("O8", "no such path", "download", status(404), "download", ["NotFound", /download/]),
  row(
    "O8",
    "always the first half only",
    "download",
    {
      status: 200,
      headers: { "content-length": "60" },
      body: new Uint8Array(30).fill(7)
    },
    "download",
    ["DownloadIncomplete", /30/]
  ),
  row("O8", "other content", "download", (answer) => ({ ...answer, body: new Uint8Array(60).fill(8) }), "verified", [
    "ContentDiffers",
    /differs from what was sent/
  ]),
  row("O9", "no data", "list", (answer) => written(answer, { page: jsonOf(answer)["page"] }), "list", [
    "InvalidResponse",
    /data/
  ]),
  row("O9", "no page", "list", (answer) => written(answer, { data: jsonOf(answer)["data"] }), "list", [
    "InvalidResponse",
    /page/
  ]),
  row("O9", "data is an object", "list", (answer) => written(answer, { ...jsonOf(answer), data: {} }), "list", [
    "InvalidResponse",
    /data/
  ]),
  row(
    "U1",
    "the right encryption header is refused",
    "put",
    status(403, xml("SignatureDoesNotMatch", "The signature does not match")),
    "small",
    ["SignatureMismatch403", /encryption/]
  ),
  row(
    "U1",
    "a PUT is redirected",
    "put",
    {
      ...status(307),
      headers: { location: "https://elsewhere.test/" }
    },
    "small",
    ["StorageRejected", /307/]
  ),
  row("U4", "the number of parts is refused", "initiateLarge", status(422), "large", ["RequestRejected", /422/]),
  row("U5", "no etag", "put", withoutEtag, "large", ["EtagMissing", /etag/i]),
  row(
    "U6",
    "URLs that have expired when they are issued",
    "put",
    status(403, xml("AccessDenied", "Request has expired")),
    "large",
    ["UrlExpired", /expired/]
  ),
  row(
    "U7",
    "storage wants the token",
    "put",
    status(401, xml("Unauthorized", "A bearer token is required")),
    "small",
    ["StorageRejected", /401/]
  ),
  row("U8", "a finalized file cannot be read", "download", status(404), "verified", [
    "ContentUnverified",
    /NotFound/
  ]),
  row("P1", "a page of five is refused", "list", status(400), "list", ["RequestRejected", /400/]),
  row(
    "P2",
    "a cursor is refused that was sent back as received",
    "list",
    (answer, { url }) => url.searchParams.has("page[start_cursor]") ? status(400) : answer,
    "list",
    ["CursorRejected", /cursor/]
  ),
  row(
    "P3",
    "the same cursor for ever",
    "list",
    (answer, { url }) => {
      const cursor = url.searchParams.get("page[start_cursor]")
      return cursor === null ? answer : paged((page) => ({ ...page, has_more: true, next_cursor: cursor }))(answer)
    },
    "list",
    ["PaginationBroken", /cursor/]
  ),
  row("P3", "more, but no cursor", "list", paged(({ total_count }) => ({ total_count, has_more: true })), "list", [
    "PaginationBroken",
    /cursor/
  ]),
  row("P3", "a cursor that is a list", "list", paged((page) => ({ ...page, next_cursor: ["a"] })), "list", [
    "InvalidResponse",
    /next_cursor/
  ])
]

/** What a client cannot see, or must not mind, and why. */
export const unseen: Readonly<Partial<Record<Sentence, string>>> = {
  "U1 otherwise": "A client always sends the encryption header, so it never learns whether storage insists on it",
  "U1 type": "It speaks of the client: it sends the file's Content-Type",
  "U2": "It speaks of the client: it calls Complete once the PUT has succeeded",
  "U3": "A client refuses such a file before it asks, so it never learns whether the service would",
  "U6 after": "It speaks of the client: it opens a new session",
  "U6 none": "A client asks for no such call, so it never learns whether there is one",
  "U9": "It speaks of sessions that no client looks at any more",
  "P4": "Any total is allowed, so none is wrong"
}

const received = <E, R>(effect: Effect.Effect<HttpClientResponse.HttpClientResponse, E, R>) =>
  Effect.flatMap(
    effect,
    ({ arrayBuffer, headers, status }) =>
      Effect.map(arrayBuffer, (body): Answer => ({ status, headers, body: new Uint8Array(body) }))
  )

const changed = (breach: Breach, client: HttpClient.HttpClient) =>
  HttpClient.transform(client, (effect, request) =>
    Effect.gen(function*() {
      const url = new URL(request.url)
      for (const [name, value] of request.urlParams) url.searchParams.append(name, value)
      if (!at[breach.at].test(`${request.method} ${url.origin}${url.pathname}`)) return yield* effect
      const answer = Predicate.isFunction(breach.change)
        ? breach.change(yield* received(effect), { method: request.method, url })
        : breach.change
      const headers = Object.entries(answer.headers).filter(([, value]) => value !== "")
      const isEmpty = answer.body.length === 0
      return HttpClientResponse.fromWeb(
        request,
        new Response(isEmpty ? null : new Uint8Array(answer.body), { status: answer.status, headers })
      )
    }))

const layer = (breach: Breach) => {
  const options = { minimumPartSize: 1, projects: 12 }
  const client = Layer.effect(
    HttpClient.HttpClient,
    Effect.map(Sandbox.Sandbox, (sandbox) => changed(breach, SandboxHttp.client(sandbox)))
  )
  const config = Layer.unwrapEffect(
    Effect.map(
      Sandbox.Sandbox,
      ({ baseUrl, token }) =>
        ServiceConfig.layer({ baseUrl, token, profile: SandboxLayer.profileOf(options), allowInsecureHttp: true })
    )
  )
  const atOnce = Layer.effectContext(
    Effect.map(
      RetryPolicy.RetryPolicy,
      (policy) => Context.make(RetryPolicy.RetryPolicy, { ...policy, base: Duration.zero, cap: Duration.zero })
    )
  )
  return Layer.mergeAll(
    Layer.provide(Layer.merge(ServiceApi.layer, HttpObjectStorage.layer), Layer.merge(config, client)),
    TransferGate.layer({ shortestPause: 0 }),
    Layer.effect(Checksum.Algorithm, Checksum.Algorithm),
    Layer.effect(Timeouts.Timeouts, Timeouts.Timeouts),
    atOnce
  ).pipe(Layer.provideMerge(Sandbox.layerMemory(options)))
}

const run = (name: Breach["program"]): Effect.Effect<unknown, unknown, Layer.Layer.Success<ReturnType<typeof layer>>> =>
  programs[name]

/** What becomes of a client that meets such a service. */
export const met = (breach: Breach): Effect.Effect<{ readonly tag: string; readonly message: string } | undefined> =>
  Effect.matchCause(run(breach.program), {
    onSuccess: () => undefined,
    onFailure: (cause) => {
      const error: unknown = Option.getOrElse(Cause.failureOption(cause), () => cause)
      return Predicate.isRecord(error)
        ? { tag: String(error["_tag"]), message: String(error["message"]) }
        : { tag: "defect", message: String(error) }
    }
  }).pipe(Effect.provide(layer(breach)), Effect.orDie, Effect.withTracerEnabled(false))
