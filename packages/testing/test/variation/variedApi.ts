import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as Connection from "../../src/Connection.js"
import * as InProcess from "../../src/sandbox/inProcess.js"
import type { Route } from "../../src/sandbox/route.js"
import * as Routes from "../../src/sandbox/route.js"
import type { TwoWay } from "./twoWay.js"
import * as Answer from "./variedAnswer.js"
import * as Content from "./variedContent.js"
import * as Forms from "./variedForms.js"
import type { Fields } from "./variedJson.js"
import * as Json from "./variedJson.js"
import * as Page from "./variedPage.js"
import { shaped } from "./variedRecord.js"
import * as Refusal from "./variedRefusal.js"
import type * as Storage from "./variedStorage.js"

type Response = HttpServerResponse.HttpServerResponse

export interface Parts extends Storage.Parts {
  readonly ids: TwoWay
  readonly isFinalized: (fileId: string) => Effect.Effect<boolean>
}

const AnyJson = Schema.parseJson(Schema.Unknown)

const fieldsOf = (value: unknown): Fields => Predicate.isRecord(value) ? Object.fromEntries(Object.entries(value)) : {}

const listOf = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : []

const textOf = (value: unknown): string => Predicate.isString(value) ? value : ""

const jsonOf = ({ body }: Response): Option.Option<unknown> =>
  body._tag === "Uint8Array"
    ? Schema.decodeOption(AnyJson)(new TextDecoder().decode(body.body))
    : Option.none()

const isFine = ({ status }: { readonly status: number }): boolean => status >= 200 && status < 300

/** The service, as the variation says it is. @internal */
export const make = (
  parts: Parts,
  app: HttpApp.Default<Connection.ConnectionBroken>
): HttpApp.Default<Connection.ConnectionBroken> => {
  const { etags, ids, settings, urls, variation } = parts
  const { names } = variation.open
  const uploadIds = Forms.uploadIds(variation)
  const cursors = Forms.cursors(variation)
  const dressed = Json.objects(variation)
  const enveloped = (fields: Fields): Fields =>
    variation.session.envelope === "data" ? dressed({ data: dressed(fields) }) : dressed(fields)
  const idOf = (inside: string): string | number => {
    const id = ids.outside(inside)
    return variation.session.ids === "number" ? Number(id) : id
  }

  const renamed = ({ name, size, type, ...rest }: Fields): Fields => ({
    ...rest,
    [names.fileName]: name,
    [names.mediaType]: type,
    [names.size]: size
  })

  const record = (shape: Parameters<typeof shaped>[0], fields: Fields): Fields =>
    shaped(shape, "id", renamed({ ...fields, id: idOf(textOf(fields["id"])) }))

  const wire = { name: names.fileName, type: names.mediaType, size: names.size, parts: names.parts }

  const rename = (field: string): string => Object.entries(wire).find(([name]) => name === field)?.[1] ?? field

  const partsFor = (wished: unknown, size: number): unknown => {
    const one = Math.max(1, Number(wished ?? 4))
    const counts = {
      wished,
      "one": 1,
      "one fewer": Math.max(1, one - 1),
      "one more": one + 1,
      "seven": 7,
      "twice": one * 2,
      "twelve": 12
    }
    const count = counts[variation.session.parts]
    return Predicate.isNumber(count) && variation.session.parts !== "wished" ? Math.min(count, size) : count
  }

  const declared = (body: Fields, isLarge: boolean): Fields => {
    const others = Object.fromEntries(
      Object.entries(body).filter(([name]) => !Object.values<string>(wire).includes(name) && !(name in wire))
    )
    const count = isLarge ? partsFor(body[names.parts], Number(body[names.size])) : undefined
    return {
      ...others,
      name: body[names.fileName],
      type: body[names.mediaType],
      size: body[names.size],
      ...(count === undefined ? {} : { parts: count })
    }
  }

  const completed = (body: Fields): Fields => ({
    upload_id: uploadIds.inside(textOf(body["upload_id"])),
    parts: listOf(body[names.completeParts]).map((part) => {
      const fields = fieldsOf(part)
      const etag = fields[names.completeEtag]
      return {
        part_number: fields[names.completePartNumber],
        etag: Predicate.isString(etag) ? etags.inside(etag) : etag
      }
    })
  })

  const partUrls = (signed: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
    const outside = signed.map((url) => urls.outside(textOf(url)))
    const numbered = outside.map((url, index) =>
      dressed({ ...Json.placed(names.partUrl, url), [names.partNumber]: index + 1 })
    )
    switch (variation.session.urls) {
      case "strings":
        return outside
      case "objects":
        return numbered
      case "objects in any order":
        return [...Arr.reverse(numbered.slice(1)), ...numbered.slice(0, 1)]
      case "objects without numbers":
        return outside.map((url) => dressed(Json.placed(names.partUrl, url)))
    }
  }

  const opened = (data: Fields): Fields => {
    const { id, upload_id, upload_url, urls: signed, ...rest } = data
    return enveloped({
      ...rest,
      ...Json.placed(names.fileId, idOf(textOf(id))),
      ...(upload_url === undefined ? {} : { upload_url: urls.outside(textOf(upload_url)) }),
      ...(upload_id === undefined ? {} : { upload_id: uploadIds.outside(textOf(upload_id)) }),
      ...(signed === undefined ? {} : { urls: partUrls(listOf(signed)) })
    })
  }

  const completion = (data: Fields): { readonly text: string; readonly mediaType?: string } => {
    const whole = record("usual", data)
    switch (variation.completion.body) {
      case "record":
        return { text: Json.write(enveloped(whole)) }
      case "part of a record":
        return { text: Json.write(enveloped({ id: whole["id"], created_at: whole["created_at"] })) }
      case "only an id":
        return { text: Json.write({ data: { id: whole["id"] } }) }
      case "empty object":
        return { text: "{}" }
      case "empty data":
        return { text: "{\"data\":{}}" }
      case "null data":
        return { text: "{\"data\":null}" }
      case "null":
        return { text: "null" }
      case "array":
        return { text: "[]" }
      case "number":
        return { text: "12345678901234567890" }
      case "string":
        return { text: "\"completed\"" }
      case "text":
        return { text: "OK", mediaType: "text/plain" }
      case "HTML":
        return { text: "<!doctype html><title>Done</title><p>Done", mediaType: "text/html" }
      case "broken JSON":
        return { text: "{\"data\":{\"id\":" }
      case "nothing":
        return { text: "" }
      case "done":
        return { text: Json.write(enveloped({ ...whole, status: "done" })) }
      case "nulls":
        return { text: Json.write(enveloped({ ...whole, created_at: null, author: null, [names.mediaType]: null })) }
      case "other types":
        return { text: Json.write(enveloped(shaped("other types", "id", whole))) }
      case "deeply nested":
        return { text: Json.write(enveloped(shaped("deeply nested", "id", whole))) }
    }
  }

  const json = (instead: Response, value: unknown, status = instead.status): Response =>
    Answer.sent(variation, instead, { status, text: Json.write(value) })

  const refused = (response: Response, status = response.status): Response =>
    Option.match(jsonOf(response), {
      onNone: () => response,
      onSome: (value) =>
        Answer.sent(variation, response, {
          status,
          ...Refusal.bodyOf(variation, status, Refusal.refusedOf(value, rename))
        })
    })

  const repeated = (response: Response, data: Fields): Response => {
    const status = Number(variation.completion.repeated)
    if (isFine({ status })) return Answer.sent(variation, response, { status, text: Json.write(enveloped(data)) })
    const said = { title: "Not possible", message: "This file is finalized already", path: "" }
    return Answer.sent(variation, response, { status, ...Refusal.bodyOf(variation, status, said) })
  }

  const tokenInfo = (response: Response, data: Fields): Response => {
    switch (variation.tokenInfo) {
      case "told":
        return json(response, enveloped(data))
      case "empty object":
        return json(response, {})
      case "HTML":
        return Answer.sent(variation, response, { status: 200, text: "<html><p>Welcome", mediaType: "text/html" })
      case "nothing":
        return Answer.sent(variation, response, { status: 204, text: "" })
      default: {
        const status = Number(variation.tokenInfo)
        const said = { title: "There is no such call", message: "", path: "" }
        return Answer.sent(variation, response, { status, ...Refusal.bodyOf(variation, status, said) })
      }
    }
  }

  const linked = (signed: string): string => urls.redirected(urls.outside(signed), variation.download.redirects)

  const downloaded = (response: Response): Response => {
    const location = response.headers["location"]
    if (location === undefined) return Answer.dated(variation.answers.date, Content.sent(variation, etags, response))
    const { redirectStatus } = variation.download
    const to = urls.redirected(urls.outside(location), variation.download.redirects - 1)
    return Answer.dated(
      variation.answers.date,
      HttpServerResponse.setHeader(HttpServerResponse.setStatus(response, redirectStatus), "location", to)
    )
  }

  const listed = (position: ReturnType<typeof Page.positionOf>, body: Fields): unknown => {
    const page = fieldsOf(body["page"])
    const made = Page.varied(variation, cursors, position, {
      data: listOf(body["data"]).map(fieldsOf),
      total: Number(page["total_count"]),
      next: Predicate.isString(page["next_cursor"]) ? page["next_cursor"] : undefined
    })
    return dressed({
      data: made.data.map((item) => dressed(shaped(variation.records.items, "id", item))),
      page: dressed(made.page)
    })
  }

  const answerOf = (route: Route, response: Response, isRepeated: boolean): Response => {
    if (!isFine(response)) return route.call === "download" ? downloaded(response) : refused(response)
    const body = fieldsOf(Option.getOrUndefined(jsonOf(response)))
    const data = fieldsOf(body["data"])
    switch (route.call) {
      case "initiateUpload":
      case "initiateLargeUpload":
        return json(response, opened(data))
      case "completeUpload":
      case "completeLargeUpload":
        return isRepeated && variation.completion.repeated !== "as before"
          ? repeated(response, record("usual", data))
          : Answer.sent(variation, response, { status: variation.completion.status, ...completion(data) })
      case "file":
        return json(response, enveloped(record(variation.records.file, data)))
      case "importFile":
        return json(response, enveloped(data))
      case "tokenInfo":
        return tokenInfo(response, data)
      case "download":
        return settings.download === "link"
          ? json(response, enveloped(Json.placed(names.downloadUrl, linked(textOf(data["url"])))))
          : downloaded(response)
      case "list":
        return json(response, listed(positionIn(route), body))
    }
  }

  const isAsWished = (fileId: string, text: string): boolean => {
    const { byteCount, done, e_tag, label, mime, uid } = fieldsOf(
      Option.getOrUndefined(Schema.decodeOption(AnyJson)(text))
    )
    switch (variation.open.completeBody) {
      case "none":
        return text === ""
      case "empty":
        return text === "{}"
      case "named":
        return uid === idOf(fileId) && Predicate.isString(e_tag) && Predicate.isNumber(byteCount) &&
          Predicate.isString(label) && Predicate.isString(mime) && done === true
    }
  }

  const positionIn = ({ search }: Route) =>
    Page.positionOf(variation, cursors, search.get("page[start_cursor]") ?? undefined)

  const targetOf = (route: Route): string => {
    if (route.call !== "list") return route.pathOf(ids.inside(route.fileId))
    const search = new URLSearchParams(route.search)
    const { inside } = positionIn(route)
    search.delete("page[start_cursor]")
    if (inside !== undefined) search.set("page[start_cursor]", inside)
    return `${route.pathOf("")}?${search.toString()}`
  }

  const bodyOf = (call: Route["call"], text: string): string => {
    const body = fieldsOf(Option.getOrUndefined(Schema.decodeOption(AnyJson)(text)))
    switch (call) {
      case "initiateUpload":
        return JSON.stringify(declared(body, false))
      case "initiateLargeUpload":
        return JSON.stringify(declared(body, true))
      case "completeLargeUpload":
        return JSON.stringify(completed(body))
      default:
        return text
    }
  }

  return Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const route = Routes.find(settings, request)
    if (route === undefined) return yield* app
    const isRepeated = yield* parts.isFinalized(ids.inside(route.fileId))
    const text = request.method === "POST"
      ? yield* Effect.orElseSucceed(request.text, () => "")
      : undefined
    if (route.call === "completeUpload" && !isAsWished(ids.inside(route.fileId), text ?? "")) {
      const date = new Date(yield* Clock.currentTimeMillis).toUTCString()
      const said = { title: "Wrong body", message: "Complete upload wants another body", path: "" }
      return Answer.sent(variation, HttpServerResponse.empty({ status: 422, headers: { date } }), {
        status: 422,
        ...Refusal.bodyOf(variation, 422, said)
      })
    }
    const response = yield* Effect.provideService(
      app,
      HttpServerRequest.HttpServerRequest,
      InProcess.replaced(request, {
        target: targetOf(route),
        headers: route.call === "download" ? Content.asked(variation, etags, request) : request.headers,
        body: text === undefined ? undefined : new TextEncoder().encode(bodyOf(route.call, text))
      })
    )
    return answerOf(route, response, isRepeated)
  })
}
