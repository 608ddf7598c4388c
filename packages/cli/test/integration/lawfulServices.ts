/** Ten services that keep the letter of the interface, and decide otherwise where it is silent. They refuse unknown fields. */
import type { ServiceProfile } from "@stevedore/core"
import { Effect, Predicate } from "effect"
import { createHash } from "node:crypto"
import { listening } from "./listening.js"
import { bodyOf } from "./plainService.js"

type Template = ServiceProfile.BodyTemplate

type Json = Readonly<Record<string, unknown>>

interface Session {
  readonly id: string
  readonly uploadId: string
  readonly urls: ReadonlyArray<string>
}

type Problem = readonly [path: ReadonlyArray<string | number>, message: string]

/** What a service says of what it refuses. */
const refusals = {
  issues: (problems: ReadonlyArray<Problem>) => ({ issues: problems.map(([path, message]) => ({ path, message })) }),
  errors: (problems: ReadonlyArray<Problem>) => ({
    errors: problems.slice(0, 1).map(([path, message]) => ({ code: "invalid", field: path.join("."), message }))
  }),
  text: ([first]: ReadonlyArray<Problem>) => ({ message: `"${first?.[0].join(".")}" ${first?.[1]}` })
}

/** How one differs from the standard profile. */
export interface LawfulService {
  readonly says: keyof typeof refusals
  readonly initiate: Template
  readonly complete: Template
  readonly opened: (session: Session, isLarge: boolean) => Json
  /** What the profile needs that nobody can find out. */
  readonly byHand?: { readonly [name: string]: Template }
  /** What the doctor writes, beside that. */
  readonly profile: Json
}

/** One that the standard profile fits. */
export const plain: Omit<LawfulService, "profile"> = {
  says: "issues",
  initiate: { name: "{name}", type: "{type}", size: "{size}" },
  complete: { upload_id: "{upload_id}", parts: [{ part_number: "{part_number}", etag: "{etag}" }] },
  opened: ({ id, uploadId, urls }, isLarge) => ({
    data: isLarge ? { id, upload_id: uploadId, urls } : { id, upload_url: urls[0] }
  })
}

const standardParts = [{ part_number: "{part_number}", etag: "{etag}" }]

const completedBy = (complete: Template): Pick<LawfulService, "complete" | "profile"> => ({
  complete,
  profile: { completeLargeUploadBody: complete }
})

export const services: ReadonlyArray<readonly [string, LawfulService]> = [
  ["whose Complete knows no upload id", { ...plain, ...completedBy({ parts: standardParts }) }],
  ["with the upload's id under another name", {
    ...plain,
    says: "errors",
    ...completedBy({ uploadToken: "{upload_id}", parts: standardParts })
  }],
  ["that wants bare etags", { ...plain, ...completedBy({ upload_id: "{upload_id}", etags: ["{etag}"] }) }],
  ["that wants a map from numbers to etags", {
    ...plain,
    says: "text",
    ...completedBy({ upload_id: "{upload_id}", parts: { "{part_number}": "{etag}" } })
  }],
  ["with other names of the parts", {
    ...plain,
    says: "errors",
    complete: { upload_id: "{upload_id}", completedParts: [{ PartNumber: "{part_number}", ETag: "{etag}" }] },
    profile: { fields: { completeParts: "completedParts", completePartNumber: "PartNumber", completeEtag: "ETag" } }
  }],
  ["that wants a constant", {
    ...plain,
    initiate: { name: "{name}", type: "{type}", size: "{size}", folder_id: "inbox" },
    byHand: { name: "{name}", type: "{type}", size: "{size}", folder_id: "inbox" },
    profile: {}
  }],
  ["with names in camel case", {
    ...plain,
    opened: ({ id, uploadId, urls }, isLarge) => ({
      data: isLarge ? { id, uploadId, partUrls: urls } : { id, uploadUrl: urls[0] }
    }),
    profile: { fields: { uploadUrl: "uploadUrl", uploadId: "uploadId", urls: "partUrls" } }
  }],
  ["with its session in an object", {
    ...plain,
    opened: ({ id, uploadId, urls }, isLarge) => ({
      data: { session: isLarge ? { id, upload_id: uploadId, urls } : { id, upload_url: urls[0] } }
    }),
    profile: {
      fields: {
        fileId: "session.id",
        uploadUrl: "session.upload_url",
        uploadId: "session.upload_id",
        urls: "session.urls"
      }
    }
  }],
  ["with URLs as objects", {
    ...plain,
    opened: ({ id, uploadId, urls }, isLarge) => ({
      data: isLarge
        ? { id, upload_id: uploadId, urls: urls.map((url, index) => ({ part: index + 1, url })).reverse() }
        : { id, upload_url: urls[0] }
    }),
    profile: { fields: { partNumber: "part" } }
  }],
  ["with names within objects", {
    ...plain,
    initiate: { file: { name: "{name}", mime: "{type}", bytes: "{size}" } },
    profile: {
      initiateBody: { file: { name: "{name}", mime: "{type}", bytes: "{size}" } }
    }
  }]
]

const missing = "is required"

/** Where a body is not as it has to be. */
const problemsOf = (template: Template, value: unknown, path: Problem[0] = []): ReadonlyArray<Problem> => {
  if (value === undefined) return [[path, missing]]
  if (typeof template === "string") {
    const type = /^\{(?:size|part_number|parts)\}$/.test(template) ? "number" : "string"
    const fits = typeof value === type && (template.startsWith("{") || template === value)
    return fits ? [] : [[path, `Expected a ${type}`]]
  }
  if (typeof template !== "object" || template === null) return template === value ? [] : [[path, "is another one"]]
  if (Array.isArray(template)) {
    if (!Array.isArray(value)) return [[path, "Expected a list"]]
    return value.flatMap((one, index) => problemsOf(template[0], one, [...path, index]))
  }
  if (!Predicate.isRecord(value)) return [[path, "Expected an object"]]
  const [first] = Object.entries(template)
  if (first?.[0] === "{part_number}") {
    return Object.entries(value).flatMap(([name, one]) =>
      /^\d+$/.test(name)
        ? problemsOf(first[1], one, [...path, name])
        : [[[...path, name], "Expected a number"] as const]
    )
  }
  return [
    ...Object.keys(value).filter((name) => !(name in template)).map((name): Problem => [[...path, name], "is unknown"]),
    ...Object.entries(template).flatMap(([name, one]) =>
      name === "parts" && one === "{parts}" && value[name] === undefined
        ? []
        : problemsOf(one, value[name], [...path, name])
    )
  ]
}

const textsIn = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string"
    ? [value]
    : Predicate.isObject(value)
    ? Object.values(value).flatMap(textsIn)
    : []

/** One of them with its storage, by its address, and what it has stored of a file. */
export const serve = ({ complete, initiate, opened, says }: Omit<LawfulService, "profile">) =>
  Effect.gen(function*() {
    const stored = new Map<string, Map<number, Buffer>>()
    const larges = new Set<string>()
    const done = new Set<string>()
    const contentOf = (id: string) =>
      Buffer.concat([...stored.get(id) ?? []].toSorted(([one], [other]) => one - other).map(([, bytes]) => bytes))
    const origin = yield* listening((request, response) => {
      void bodyOf(request).then((body) => {
        const origin = `http://${request.headers.host}`
        const [, id = "", part = "1"] = /\/(f\d+)(?:\/(\d+))?/.exec(request.url ?? "") ?? []
        const json = (status: number, value: unknown) =>
          response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))
        if (request.method === "PUT") {
          if (!larges.has(id) && request.headers["x-amz-server-side-encryption"] !== "aws:kms") {
            return response.writeHead(403).end("<Error><Code>SignatureDoesNotMatch</Code></Error>")
          }
          const tag = `"${createHash("sha1").update(body).digest("hex")}-${part}"`
          stored.get(id)?.set(Number(part), body)
          return response.writeHead(200, { etag: tag }).end()
        }
        const isLarge = request.url?.includes("large-upload") === true
        const isOpening = request.url === "/v2/files/upload" || request.url === "/v2/files/large-upload"
        if (request.method === "POST" && (isOpening || isLarge)) {
          const told: unknown = JSON.parse(body.toString())
          const withParts = isLarge && Predicate.isRecord(initiate) ? { ...initiate, parts: "{parts}" } : initiate
          const problems = problemsOf(isOpening ? withParts : complete, told)
          if (problems.length > 0) return json(422, refusals[says](problems))
          if (isOpening) {
            const id = `f${stored.size + 1}`
            stored.set(id, new Map())
            if (isLarge) larges.add(id)
            const count = Predicate.hasProperty(told, "parts") ? Number(told.parts) : 2
            const urls = Array.from({ length: isLarge ? count : 1 }, (_, at) => `${origin}/put/${id}/${at + 1}?sig=a`)
            return json(201, opened({ id, uploadId: `u-${id}`, urls }, isLarge))
          }
          const etags = [...stored.get(id) ?? []].map(([part, bytes]) =>
            `"${createHash("sha1").update(bytes).digest("hex")}-${part}"`
          )
          const sent = textsIn(told)
          if (etags.some((etag) => !sent.includes(etag))) return json(502, { message: "an etag is wrong" })
        }
        if (request.method === "POST") done.add(id)
        if (!done.has(id)) return json(404, {})
        return request.url?.endsWith("/download") === true
          ? response.writeHead(200).end(contentOf(id))
          : json(200, {
            data: {
              id,
              name: "a",
              type: "application/octet-stream",
              size: contentOf(id).byteLength,
              status: "completed"
            }
          })
      })
    })
    return { origin, contentOf }
  })
