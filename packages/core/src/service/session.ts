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
  const end = Option.match(url.deadline, { onNone: () => 0, onSome: (deadline) => deadline.getTime() })
  return offsets.length === 0 ? end - standardProfile.urlLifetimeSeconds * 1000 - answer.sentAt : Math.min(...offsets)
}

const NUMERIC = ["fileId", "uploadId"] as const

/** What both kinds of session have. `known` are the names of the fields that are read elsewhere. */
export const sessionFields = (
  { fields: { fileId: name } }: Pick<ServiceProfile, "fields">,
  resource: Resource,
  url: PresignedUrl.PresignedUrl,
  known: ReadonlyArray<string>
) => {
  const { answer, fields } = resource
  const names = new Set([...known, ...namesOf(name)])
  const id = valueOf(fields, name)
  const ids = { fileId: id, uploadId: known.includes("upload_id") ? fields["upload_id"] : undefined }
  const numericIds = NUMERIC.filter((one) => ids[one] !== undefined && typeof ids[one] !== "string")
  return Either.map(
    Either.fromNullable(
      textOf(id),
      () => invalidField(resource, namesOf(name)[0], { profile: "fields.fileId" })
    ),
    (fileId) => {
      const offset = offsetOf(answer, url)
      return {
        fileId,
        ...(numericIds.length === 0 ? {} : { numericIds }),
        clockOffset: offset,
        ...(httpDate(answer.headers["date"]) === undefined ? {} : { dateOffset: clockOffset(answer) }),
        openedAt: answer.sentAt + offset,
        extra: Object.fromEntries(Object.entries(fields).filter(([field]) => !names.has(field)))
      }
    }
  )
}

/** A pre-signed URL of a response, whose place and problem an error names. */
export const urlAt = (
  resource: Resource,
  name: string,
  value: unknown,
  profile?: string
): Either.Either<PresignedUrl.PresignedUrl, ServiceError> =>
  Either.fromOption(
    PresignedUrl.fromString(typeof value === "string" ? value : ""),
    () =>
      invalidField(resource, name, {
        words: value === undefined || value === null ? undefined : "not an http or https URL",
        profile
      })
  ).pipe(Either.flatMap(encrypted(resource.answer, resource.at === "" ? name : `${resource.at}.${name}`)))

const numberOf = (value: unknown): number | undefined =>
  typeof value === "number" ? value : typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : undefined

const elementOf = (
  { fields: { partNumber, partUrl } }: Pick<ServiceProfile, "fields">,
  resource: Resource,
  element: unknown,
  index: number
) => {
  const place = `urls[${index}]`
  if (!isJsonObject(element)) {
    return Either.map(urlAt(resource, place, element), (url) => ({ place, url, stated: undefined }))
  }
  return Either.map(
    urlAt(
      { ...resource, fields: element },
      `${place}.${namesOf(partUrl)[0]}`,
      valueOf(element, partUrl),
      "fields.partUrl"
    ),
    (url) => ({ place, url, stated: numberOf(valueOf(element, partNumber)) })
  )
}

// A URL may state its part number twice, in the response and in its own query. If they disagree, parts would be mixed
// up.
export const urlsInOrder = (
  profile: Pick<ServiceProfile, "fields">,
  resource: Resource,
  /** The file's size in bytes: no more URLs can be used. */
  size: number
): Either.Either<Arr.NonEmptyReadonlyArray<PresignedUrl.PresignedUrl>, ServiceError> =>
  Either.gen(function*() {
    const { urls } = resource.fields
    if (!Array.isArray(urls) || !Arr.isNonEmptyReadonlyArray(urls)) {
      return yield* Either.left(
        invalidField(resource, "urls", { words: Array.isArray(urls) ? "no URL" : urls == null ? undefined : "no list" })
      )
    }
    const elements = yield* Either.all(Arr.map(urls, (element, index) => elementOf(profile, resource, element, index)))
    const numbered = Arr.map(elements, ({ place, stated, url }, index) => ({
      place,
      url,
      number: stated ?? Option.getOrElse(url.partNumber, () => index + 1)
    }))
    const ordered = numbered.sort((one, other) => one.number - other.number)
    for (const [index, { number, place, url }] of ordered.entries()) {
      if (number !== index + 1 || Option.exists(url.partNumber, (own) => own !== number)) {
        return yield* Either.left(
          invalidField(resource, place, {
            words: "part numbers other than 1 to n, each once",
            profile: "fields.partNumber"
          })
        )
      }
    }
    if (urls.length > size) {
      return yield* Either.left(invalidField(resource, "urls", { words: `${urls.length} URLs for ${size} bytes` }))
    }
    // one part would replace another
    if (new Set(ordered.map(({ url }) => PresignedUrl.reveal(url))).size < urls.length) {
      return yield* Either.left(invalidField(resource, "urls", { words: "the same URL for several parts" }))
    }
    return Arr.map(ordered, ({ url }) => url)
  })

/** The part size that a response names, if the profile says where. */
export const partSizeOf = (
  { fields: { partSize } }: Pick<ServiceProfile, "fields">,
  { fields }: Resource
): number | undefined => {
  const size = partSize === undefined ? undefined : numberOf(valueOf(fields, partSize))
  return size !== undefined && Number.isSafeInteger(size) && size > 0 ? size : undefined
}
