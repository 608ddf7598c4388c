/**
 * Arbitraries of the domain, for properties: sources, plans, sessions, pages and fault scripts. Each generates only
 * values that core itself would accept, shrinks towards the simple case, and prints readably.
 */
import * as PresignedUrl from "@stevedore/core/PresignedUrl"
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import * as UploadPlan from "@stevedore/core/UploadPlan"
import type * as UploadSession from "@stevedore/core/UploadSession"
import type { RepeatableSource } from "@stevedore/core/UploadSource"
import * as UploadSources from "@stevedore/core/UploadSources"
import type { WirePage } from "@stevedore/server/ListSource"
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as ListChanges from "./faults/listChanges.js"
import * as FaultScript from "./FaultScript.js"

const mediaType = FastCheck.constantFrom("text/plain", "video/mp4", "application/octet-stream", "image/png")

// Any script, but no lone surrogates, which cannot be sent. A function: its table of characters takes a second to make.
const fileName = () => FastCheck.string({ unit: "binary", minLength: 1, maxLength: 40 })

/**
 * Bytes in memory, or a stream of them in chunks of any size, with a name and a media type: 1 to `largest` bytes
 * (default 256).
 *
 * @category arbitraries
 */
export const source = (options?: { readonly largest?: number | undefined }): FastCheck.Arbitrary<RepeatableSource> =>
  FastCheck.tuple(
    fileName(),
    mediaType,
    FastCheck.uint8Array({ minLength: 1, maxLength: options?.largest ?? 256 }),
    FastCheck.option(FastCheck.integer({ min: 1, max: 64 }), { nil: undefined })
  ).map(([name, type, bytes, chunkSize]) =>
    chunkSize === undefined
      ? UploadSources.fromBytes(name, bytes, { mediaType: type })
      : UploadSources.fromStream(
        name,
        Stream.fromIterable(Arr.chunksOf(bytes, chunkSize)).pipe(Stream.map((chunk) => Uint8Array.from(chunk))),
        { size: bytes.byteLength, mediaType: type }
      )
  )

type Limits = ServiceProfile.ServiceProfile["limits"]

/**
 * Plans made by core itself, for any size that can be uploaded within the limits (default: those of the standard
 * profile), with an emphasis on the sizes at which plans change.
 *
 * @category arbitraries
 */
export const plan = (
  options?: { readonly limits?: Limits | undefined }
): FastCheck.Arbitrary<UploadPlan.UploadPlan> => {
  const limits = options?.limits ?? ServiceProfile.standard.limits
  const edges = [1, limits.minimumPartSize, UploadPlan.defaultThreshold, limits.singleSize, limits.multipartSize]
    .flatMap((edge) => [edge - 1, edge, edge + 1])
    .filter((size) => size >= 1 && size <= limits.multipartSize)
  const size = FastCheck.oneof(
    FastCheck.constantFrom(...edges),
    FastCheck.maxSafeNat().map((number) => 1 + number % limits.multipartSize)
  )
  const part = FastCheck.option(FastCheck.double({ min: 0, max: 1, noNaN: true }), { nil: undefined })
  return FastCheck.tuple(size, FastCheck.constantFrom(...UploadPlan.Strategy.literals), part).map(
    ([wanted, strategy, share]) => {
      const fewest = UploadPlan.fewestParts(wanted, limits)
      const most = UploadPlan.mostParts(wanted, limits)
      const parts = share === undefined || strategy === "single"
        ? undefined
        : Math.min(most, fewest + Math.floor(share * (most - fewest + 1)))
      return UploadPlan.make(
        {
          name: "file",
          size: wanted,
          strategy: strategy === "single" && wanted > limits.singleSize ? "auto" : strategy,
          parts
        },
        limits
      )
    }
  ).filter(Either.isRight).map(({ right }) => right)
}

const DIGITS = [..."0123456789abcdef"]
const ID_CHARACTERS = [..."0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"]

const text = (characters: ReadonlyArray<string>, length: number) =>
  FastCheck.array(FastCheck.constantFrom(...characters), { minLength: length, maxLength: length })
    .map((chosen) => chosen.join(""))

const presigned = (path: string, at: number, signature: string, signedHeaders: string, part: string) => {
  const date = new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, "")
  return PresignedUrl.fromString(
    `https://storage.test/bucket/${path}?${part}X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKID&X-Amz-Date=${date}` +
      `&X-Amz-Expires=10800&X-Amz-SignedHeaders=${signedHeaders}&X-Amz-Signature=${signature}`
  )
}

const FIRST_SECOND = Date.UTC(2024, 0, 1) / 1000

/**
 * Sessions as the service opens them: a single one, or one of up to `parts` parts (default 8). Their URLs say what they
 * are signed over and that they expire three hours after the session was opened.
 *
 * @category arbitraries
 */
export const session = (
  options?: { readonly parts?: number | undefined }
): FastCheck.Arbitrary<UploadSession.UploadSession> =>
  FastCheck.tuple(
    text(ID_CHARACTERS, 22),
    text(DIGITS, 64),
    FastCheck.nat(500_000_000),
    FastCheck.integer({ min: -900_000, max: 900_000 }),
    FastCheck.option(FastCheck.integer({ min: 1, max: options?.parts ?? 8 }), { nil: undefined })
  ).map(([fileId, signature, second, clockOffset, parts]): Option.Option<UploadSession.UploadSession> => {
    const openedAt = (FIRST_SECOND + second) * 1000
    const opened = { fileId, clockOffset, openedAt, extra: {} }
    const urls = Option.all(Arr.makeBy(parts ?? 1, (index) =>
      parts === undefined
        ? presigned(fileId, openedAt, signature, "host%3Bx-amz-server-side-encryption", "")
        : presigned(fileId, openedAt, signature, "host", `partNumber=${index + 1}&uploadId=upload-${fileId}&`)))
    return Option.flatMap(urls, ([first, ...others]) =>
      first === undefined
        ? Option.none()
        : Option.some(
          parts === undefined
            ? { ...opened, _tag: "SingleSession", url: first }
            : { ...opened, _tag: "MultipartSession", uploadId: `upload-${fileId}`, urls: [first, ...others] }
        ))
  }).filter(Option.isSome).map(({ value }) => value)

/**
 * A walk of a list that changes during the walk. `pages` are the service's responses in order, each to the cursor of
 * the previous one. A walk must return every id in `steady` exactly once: those records exist from beginning to end.
 *
 * @category models
 */
export interface Walk {
  readonly pages: Arr.NonEmptyReadonlyArray<WirePage>
  readonly steady: ReadonlyArray<string>
}

/**
 * Lists of up to `records` projects (default 40) in pages of 1 to 10. Between the pages, records appear and vanish, and
 * empty pages occur.
 *
 * @category arbitraries
 */
export const pages = (options?: { readonly records?: number | undefined }): FastCheck.Arbitrary<Walk> =>
  FastCheck.tuple(
    FastCheck.nat(options?.records ?? 40),
    FastCheck.integer({ min: 1, max: 10 }),
    FastCheck.constantFrom(...ListChanges.sorts),
    FastCheck.array(FastCheck.constantFrom(...ListChanges.changes), { maxLength: 12 })
  ).map(([records, pageSize, sort, changes]) => ListChanges.walk({ records, pageSize, sort, changes }))

/**
 * Fault scripts that end: {@link FaultScript.arbitrary}.
 *
 * @category arbitraries
 */
export const faultScript: (options?: FaultScript.RandomOptions) => FastCheck.Arbitrary<FaultScript.FaultScript> =
  FaultScript.arbitrary
