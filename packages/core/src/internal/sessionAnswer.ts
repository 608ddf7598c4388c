import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as PresignedUrl from "../PresignedUrl.js"
import type { ServiceAnswer } from "../ServiceAnswer.js"
import { clockOffset, encrypted, invalid } from "../ServiceAnswer.js"
import type { ServiceError } from "../ServiceError.js"
import type { ServiceProfile } from "../ServiceProfile.js"
import { httpDate } from "./httpDate.js"
import { standardProfile } from "./standardProfile.js"

const Opened = Schema.Struct({
  id: Schema.optional(Schema.NonEmptyString),
  file_id: Schema.optional(Schema.NonEmptyString)
})

const Url = Schema.Union(
  PresignedUrl.PresignedUrlFromString,
  Schema.Struct({ url: PresignedUrl.PresignedUrlFromString, part_number: Schema.optional(Schema.Int) })
)

/** @internal */
export const OpenedSingle = Schema.Struct({ ...Opened.fields, upload_url: PresignedUrl.PresignedUrlFromString })

/** @internal */
export const OpenedMultipart = Schema.Struct({
  ...Opened.fields,
  upload_id: Schema.NonEmptyString,
  urls: Schema.NonEmptyArray(Url)
})

const known = new Set(["id", "file_id", "upload_url", "upload_id", "urls"])

/** @internal */
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

/** @internal */
export const sessionFields = (
  answer: ServiceAnswer,
  opened: typeof Opened.Type,
  url: PresignedUrl.PresignedUrl
) =>
  Either.map(
    Either.fromNullable(opened.id ?? opened.file_id, () => invalid(answer, "data.id", "a field is missing")),
    (fileId) => {
      const offset = offsetOf(answer, url)
      return {
        fileId,
        clockOffset: offset,
        ...(httpDate(answer.headers["date"]) === undefined ? {} : { dateOffset: clockOffset(answer) }),
        openedAt: answer.sentAt + offset,
        extra: Object.fromEntries(Object.entries(opened).filter(([name]) => !known.has(name)))
      }
    }
  )

// A URL may state its part number twice, in the response and in its own query. If they disagree, parts would be mixed
// up.
/** @internal */
export const inPartOrder = (
  answer: ServiceAnswer,
  urls: Arr.NonEmptyReadonlyArray<typeof Url.Type>
): Either.Either<Arr.NonEmptyReadonlyArray<PresignedUrl.PresignedUrl>, ServiceError> => {
  const numbered = Arr.map(urls, (entry, index) => {
    const { part_number, url } = entry instanceof PresignedUrl.PresignedUrl ? { url: entry } : entry
    const path = `data.urls[${index}]`
    return { path, url, number: part_number ?? Option.getOrElse(url.partNumber, () => index + 1) }
  })
  const ordered = numbered.sort((one, other) => one.number - other.number)
  return Either.all(
    Arr.map(
      ordered,
      ({ number, path, url }, index) =>
        number !== index + 1 || Option.exists(url.partNumber, (own) => own !== number)
          ? Either.left(invalid(answer, path, "part numbers other than 1 to n, each once"))
          : encrypted(answer, path)(url)
    )
  )
}
