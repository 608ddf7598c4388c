import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { isJsonObject } from "../base/effect.js"
import { httpDate } from "../base/time.js"
import * as PresignedUrl from "../PresignedUrl.js"
import type { ServiceError } from "../ServiceError.js"
import type { ServiceProfile } from "../ServiceProfile.js"
import { standardProfile } from "../source/standardProfile.js"
import type { ServiceAnswer } from "./answer.js"
import { clockOffset, encrypted } from "./answer.js"
import type { Resource } from "./resource.js"
import { invalidField, namesOf, textOf, valueOf } from "./resource.js"

export const endingInTime = (profile: ServiceProfile, openedAt: number) =>
  PresignedUrl.endingBy(new Date(openedAt + profile.urlLifetimeSeconds * 1000))

// The clock by which the URLs say when they end is that of what signed them, and they were signed for this very answer:
// what they live, they live from now on. Nobody's other clock counts, however wrong it is.
const offsetOf = (answer: ServiceAnswer, url: PresignedUrl.PresignedUrl): number => {
  if (Option.isSome(url.signedAt)) return url.signedAt.value.getTime() + 500 - answer.sentAt
  // One that says only when it ends has not ended: the clock counts by which it lives longest
  const offsets = [0, clockOffset(answer)].filter((offset) => !PresignedUrl.hasEnded(url, answer.sentAt + offset))
  const end = Option.getOrUndefined(url.deadline)?.getTime() ?? 0
  return offsets.length === 0 ? end - standardProfile.urlLifetimeSeconds * 1000 - answer.sentAt : Math.min(...offsets)
}

const NUMERIC = ["fileId", "uploadId"] as const

const KNOWN = [...NUMERIC, "uploadUrl", "urls", "partSize"] as const

/** An id in a field that the profile names. */
export const idIn = ({ fields }: Pick<ServiceProfile, "fields">, resource: Resource, name: typeof NUMERIC[number]) =>
  Either.fromNullable(
    textOf(valueOf(resource.fields, fields[name])),
    () => invalidField(resource, namesOf(fields[name])[0], { profile: `fields.${name}` })
  )

/** What both kinds of session have. */
export const sessionFields = (
  profile: Pick<ServiceProfile, "fields">,
  resource: Resource,
  url: PresignedUrl.PresignedUrl
) =>
  Either.map(idIn(profile, resource, "fileId"), (fileId) => {
    const { answer, fields } = resource
    const known = KNOWN.flatMap((one) => namesOf(profile.fields[one] ?? one))
    const numericIds = NUMERIC.filter((one) => /number|object/.test(typeof valueOf(fields, profile.fields[one])))
    const offset = offsetOf(answer, url)
    return {
      fileId,
      ...(numericIds.length > 0 && { numericIds }),
      clockOffset: offset,
      ...(httpDate(answer.headers["date"]) !== undefined && { dateOffset: clockOffset(answer) }),
      openedAt: answer.sentAt + offset,
      extra: Object.fromEntries(
        Object.entries(fields).filter(([field]) =>
          // what a name leads through is left out, for a URL may be in it
          !known.some((name) => `${name}.`.startsWith(`${field}.`))
        )
      )
    }
  })

/** A pre-signed URL of a response, whose place and problem an error names. */
const urlAt = (
  resource: Resource,
  name: string,
  value: unknown,
  profile?: string
): Either.Either<PresignedUrl.PresignedUrl, ServiceError> =>
  Either.fromOption(
    PresignedUrl.fromString(typeof value === "string" ? value : ""),
    () =>
      invalidField(resource, name, {
        words: value == null ? undefined : "not an http or https URL",
        profile
      })
  ).pipe(Either.flatMap(encrypted(resource.answer, resource.at === "" ? name : `${resource.at}.${name}`)))

/** The URL in a field that the profile names. */
export const urlIn = (
  { fields }: Pick<ServiceProfile, "fields">,
  resource: Resource,
  name: "uploadUrl" | "partUrl" | "downloadUrl",
  place = ""
) => urlAt(resource, place + namesOf(fields[name])[0], valueOf(resource.fields, fields[name]), `fields.${name}`)

const numberOf = (value: unknown): number | undefined =>
  typeof value === "number" ? value : typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : undefined

const elementOf = (
  profile: Pick<ServiceProfile, "fields">,
  resource: Resource,
  element: unknown,
  place: string,
  index: number
) =>
  Either.map(
    isJsonObject(element)
      ? urlIn(profile, { ...resource, fields: element }, "partUrl", `${place}.`)
      : urlAt(resource, place, element),
    (url) => ({
      place,
      url,
      number: numberOf(valueOf(element, profile.fields.partNumber)) ??
        Option.getOrElse(url.partNumber, () => index + 1)
    })
  )

// A URL may state its part number twice, in the response and in its own query. If they disagree, parts would be mixed
// up.
export const urlsInOrder = (
  profile: Pick<ServiceProfile, "fields">,
  resource: Resource,
  /** The file's size in bytes: no more URLs can be used. */
  size: number
): Either.Either<Arr.NonEmptyReadonlyArray<PresignedUrl.PresignedUrl>, ServiceError> =>
  Either.gen(function*() {
    const urls = valueOf(resource.fields, profile.fields.urls)
    const [name] = namesOf(profile.fields.urls)
    const refused = (words?: string, place = name, field?: string) =>
      Either.left(invalidField(resource, place, { words, profile: field }))
    if (!Array.isArray(urls) || !Arr.isNonEmptyReadonlyArray(urls)) {
      return yield* refused(
        Array.isArray(urls) ? "no URL" : urls === undefined ? undefined : "no list",
        name,
        "fields.urls"
      )
    }
    const elements = yield* Either.all(
      Arr.map(urls, (element, index) => elementOf(profile, resource, element, `${name}[${index}]`, index))
    )
    const ordered = elements.sort((one, other) => one.number - other.number)
    for (const [index, { number, place, url }] of ordered.entries()) {
      if (number !== index + 1 || (Option.getOrUndefined(url.partNumber) ?? number) !== number) {
        return yield* refused("part numbers other than 1 to n, each once", place, "fields.partNumber")
      }
    }
    if (urls.length > size) return yield* refused(`${urls.length} URLs for ${size} bytes`)
    // one part would replace another
    if (new Set(ordered.map(({ url }) => PresignedUrl.reveal(url))).size < urls.length) {
      return yield* refused("the same URL for several parts")
    }
    return Arr.map(ordered, ({ url }) => url)
  })

/** The part size that a response names, if the profile says where. */
export const partSizeOf = (
  { fields: { partSize } }: Pick<ServiceProfile, "fields">,
  { fields }: Resource
): number | undefined => {
  const size = partSize && numberOf(valueOf(fields, partSize))
  return size && Number.isSafeInteger(size) && size > 0 ? size : undefined
}
