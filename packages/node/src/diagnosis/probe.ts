/** Single calls to a service about which nothing is taken for granted, and what can be read out of their answers. */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { ServiceWithToken } from "@stevedore/core/ServiceConfig"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { brotliDecompressSync, inflateRawSync, unzipSync } from "node:zlib"
import * as Trial from "./trial.js"

/** An answer, whatever its status. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly bytes: Uint8Array
  readonly text: string
  /** Undefined if it is no JSON. */
  readonly json: unknown
}

export const isFine = ({ status }: Pick<Answer, "status">): boolean => status >= 200 && status < 300

/** What is wrong with the request itself, so that another one may be right. */
export const isRefused = ({ status }: Pick<Answer, "status">): boolean =>
  status === 400 || status === 411 || status === 415 || status === 422

export const isAbsent = ({ status }: Pick<Answer, "status">): boolean =>
  status === 404 || status === 405 || status === 410 || status === 501 || (status >= 300 && status < 400)

/** The content as it was, whatever its coding: gzip, deflate with its frame or without, or br. */
const decoded = (bytes: Uint8Array, coding: string | undefined): Uint8Array => {
  if (coding === undefined) return bytes
  const found = [unzipSync, inflateRawSync, brotliDecompressSync].map((decode) => Either.try(() => decode(bytes)))
  return found.find(Either.isRight)?.right ?? bytes
}

const parsed = (text: string): unknown => Either.getOrUndefined(Either.try((): unknown => JSON.parse(text)))

const answered = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.gen(function*() {
    const response = yield* Trial.executed(request)
    const raw = new Uint8Array(yield* response.arrayBuffer)
    const bytes = decoded(raw, response.headers["content-encoding"])
    const text = new TextDecoder().decode(bytes)
    return { status: response.status, headers: response.headers, bytes, text, json: parsed(text) } satisfies Answer
  }).pipe(
    Effect.scoped,
    Effect.timeout("60 seconds"),
    Effect.mapError(() => Trial.problem(`no answer from ${new URL(request.url).host}`))
  )

/** Asks the service itself. The token goes nowhere else. */
export const ask = (
  { baseUrl, token }: ServiceWithToken,
  method: "GET" | "POST",
  path: string,
  body?: object
) => {
  const request = HttpClientRequest.make(method)(`${baseUrl}${path}`).pipe(
    HttpClientRequest.setHeaders({ "accept-encoding": "identity", accept: "application/json, */*" }),
    HttpClientRequest.bearerToken(Redacted.value(token))
  )
  return answered(body === undefined ? request : HttpClientRequest.bodyUnsafeJson(request, body))
}

/** Asks storage, or whoever else a URL leads to, without the token. */
export const put = (url: string, bytes: Uint8Array, headers: Readonly<Record<string, string>>) =>
  answered(
    HttpClientRequest.put(url).pipe(
      HttpClientRequest.bodyUint8Array(bytes, headers["content-type"] ?? "application/octet-stream"),
      HttpClientRequest.setHeaders(headers)
    )
  )

/** A value in an answer, and the names that lead to it. */
export interface Leaf {
  readonly path: ReadonlyArray<string>
  readonly value: unknown
}

/** The values of an answer, down to four levels; a list counts as a value. */
export const leaves = (value: unknown, path: ReadonlyArray<string> = []): ReadonlyArray<Leaf> =>
  Predicate.isRecord(value) && path.length < 4
    ? Object.entries(value).flatMap(([name, one]) => leaves(one, [...path, name]))
    : [{ path, value }]

/** The value without its envelope: the object of that name, or `data` if it has one. */
export const unwrapped = (json: unknown, envelope: string): unknown => {
  const inside = (envelope === "either" ? "data" : envelope).split(".").reduce<unknown>(
    (value, name) => Predicate.hasProperty(value, name) ? value[name] : undefined,
    json
  )
  return Predicate.isRecord(inside) ? inside : json
}

/** What an answer says of a field. */
export interface Refusal {
  /** In the body that was sent; `*` is each element of a list. */
  readonly path: ReadonlyArray<string>
  readonly words: string
  /** Whether the answer names it as a field, and not only in its words. */
  readonly isNamed: boolean
}

const isText = Predicate.isString

const segments = (value: unknown): ReadonlyArray<string> =>
  (Array.isArray(value) ? value.map(String) : isText(value) ? value.split(/[./[\]#]+/) : [])
    .filter((name) => name !== "" && name !== "$" && name !== "body")
    .map((name) => /^\d+$/.test(name) ? "*" : name)

const places = ["path", "field", "pointer", "instancePath", "param", "property", "loc", "source"]

const sayings = ["message", "detail", "msg", "reason", "error", "title", "code"]

/** The texts of an answer, and what it says of which field, wherever that stands. */
const said = (value: unknown, words = "", depth = 0): ReadonlyArray<Refusal> => {
  if (depth > 6) return []
  if (isText(value)) return [{ path: [], words: value, isNamed: false }]
  if (Array.isArray(value)) return value.slice(0, 50).flatMap((one) => said(one, words, depth + 1))
  if (!Predicate.isRecord(value)) return []
  const own = sayings.flatMap((name) => isText(value[name]) ? [value[name]] : []).join(" ") || words
  const at = places.map((name) => segments(name === "source" ? textAt(value[name], "pointer") : value[name]))
    .find((path) => path.length > 0) ?? []
  const more = Array.isArray(value["keys"])
    ? value["keys"].map((key) => [...at, String(key)])
    : at.length > 0
    ? [at]
    : []
  return [
    ...more.map((path) => ({ path, words: own, isNamed: true })),
    ...Object.entries(value).flatMap(([name, one]) =>
      // a field may be a name that leads to what is wrong with it
      /^(?:errors|fields|details|issues|violations|invalid)$/.test(name) && Predicate.isRecord(one)
        ? Object.entries(one).flatMap(([field, problem]) => {
          const found = said(problem, own, depth + 1)
          return sayings.includes(field) || places.includes(field) || found.some(({ isNamed }) => isNamed)
            ? found
            : [{ path: segments(field), words: found.map(({ words }) => words).join(" "), isNamed: true }]
        })
        : said(one, own, depth + 1)
    )
  ]
}

/** What an answer says of the fields that were sent: first what it names, then each word that could be a name. */
export const refusals = ({ json, text }: Answer): ReadonlyArray<Refusal> => {
  const all = said(json === undefined ? text.replace(/<[^>]*>/g, " ") : json)
  const texts = all.filter(({ isNamed }) => !isNamed)
  return [
    ...all.filter(({ isNamed }) => isNamed),
    ...[/["'`]([A-Za-z_][\w.-]*)["'`]/g, /([A-Za-z_][\w-]*[A-Za-z0-9])/g].flatMap((names, index) =>
      texts.flatMap(({ words }) =>
        [...words.matchAll(names)].map(([, name]) => ({ path: segments(name), words, isNamed: index === 0 }))
      )
    )
  ].filter(({ path }) => path.length > 0)
}

/** The paths under the base URL that an answer leads to, each with the name or relation that leads there. */
export const paths = (
  { baseUrl }: Pick<ServiceWithToken, "baseUrl">,
  { headers, json }: Answer
): ReadonlyArray<{ readonly name: string; readonly path: string }> => {
  const { origin, pathname } = new URL(baseUrl)
  const prefix = pathname.replace(/\/$/, "")
  const links = [...(headers["link"] ?? "").matchAll(/<([^>]*)>([^,]*)/g)].map(([, to = "", rest = ""]) => ({
    name: /rel="?([^";]*)/.exec(rest)?.[1] ?? "",
    to
  }))
  const located = headers["location"] === undefined ? [] : [{ name: "location", to: headers["location"] }]
  const fields = leaves(json).flatMap(({ path, value }) => isText(value) ? [{ name: path.join("."), to: value }] : [])
  return [...located, ...links, ...fields].flatMap(({ name, to }) => {
    if (!/^(?:https?:\/\/|\/)[^\s]/.test(to) || !URL.canParse(to, origin)) return []
    const url = new URL(to, origin)
    return url.origin === origin && url.pathname.startsWith(`${prefix}/`)
      ? [{ name, path: url.pathname.slice(prefix.length) }]
      : []
  })
}

const textAt = (value: unknown, name: string): string | undefined =>
  Predicate.hasProperty(value, name) && Predicate.isString(value[name]) ? value[name] : undefined

export const isHref = (value: unknown): value is string => isText(value) && /^https?:\/\//.test(value)

/** Text or a number that may be an id. */
export const idOf = (value: unknown): string | number | undefined =>
  Predicate.isNumber(value) || (isText(value) && value !== "" && value.length <= 200 && !isHref(value))
    ? value
    : undefined

/** What a URL says of the headers that it signs, in whatever dialect; undefined if it does not say. */
export const signedHeaders = (url: URL): ReadonlyArray<string> | undefined => {
  const [, list] = [...url.searchParams].find(([name]) => /signedheaders$/i.test(name)) ?? []
  return list?.toLowerCase().split(/[;,]/)
}
