/**
 * Services that keep every sentence of the interface, and differ in everything that it leaves open: a value that a seed
 * makes, that prints, and that a sandbox takes as an option.
 */
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import * as Arbitrary from "effect/Arbitrary"
import * as FastCheck from "effect/FastCheck"
import * as Hash from "effect/Hash"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { plainVariation, standardNames, standardOpen } from "./plainVariation.js"
import { Answers, Completion, Download, Lists, Open, Records, Session, Storage } from "./variationGroups.js"

/**
 * A service that keeps every sentence of the interface.
 */
export const ServiceVariation = Schema.Struct({
  seed: Schema.Int,
  session: Session,
  completion: Completion,
  records: Records,
  storage: Storage,
  download: Download,
  lists: Lists,
  answers: Answers,
  /** What asks whom a token belongs to is answered with: the interface has no such call. */
  tokenInfo: Schema.Literal("told", "empty object", "HTML", "404", "405", "501", "nothing"),
  open: Open
}).annotations({ identifier: "ServiceVariation" })

export interface ServiceVariation extends Schema.Schema.Type<typeof ServiceVariation> {}

const anyVariation = Arbitrary.make(ServiceVariation)

const sampled = (seed: number): ServiceVariation | undefined => FastCheck.sample(anyVariation, { seed, numRuns: 1 })[0]

const scrambled = (seed: number): number => Hash.string(`service ${seed}`)

/**
 * The service of a seed, a whole number. The same seed gives the same service. Three of four are served by the standard
 * profile; the others need the one that {@link profile} gives.
 */
export const fromSeed = (seed: number): ServiceVariation => {
  const number = scrambled(seed)
  const made = sampled(number) ?? plainVariation
  const open = Math.abs(number) % 4 === 0
    ? made.open
    // `file_id` is read beside `id`
    : { ...standardOpen, names: { ...standardNames, fileId: number % 3 === 0 ? "file_id" as const : "id" as const } }
  return { ...made, seed, open }
}

/**
 * The service that the sandbox is without a variation, as far as the interface leaves it open.
 */
export const plain: ServiceVariation = plainVariation

export const otherPaths = {
  initiateUpload: "/v2/uploads",
  tokenInfo: "/v1/whoami"
}

const read: Readonly<Record<string, ReadonlyArray<string>>> = {
  ...Record.map(standardNames, (name) => [name]),
  fileId: ["id", "file_id"]
}

const differing = (names: ServiceVariation["open"]["names"]) =>
  Record.filter<string, string>(names, (name, field) => read[field]?.includes(name) !== true)

/**
 * The fields of a profile file with which a client understands the service, without those that are the standard
 * profile's: JSON that `ServiceProfile.ServiceProfile` decodes.
 */
export const profileFields = ({ open }: ServiceVariation): Readonly<Record<string, unknown>> => {
  const fields = differing(open.names)
  return {
    ...(Object.keys(fields).length === 0 ? {} : { fields }),
    ...(open.paths === "standard" ? {} : { paths: otherPaths }),
    ...(open.storage === "amz" ? {} : { encryptionHeaders: encryptionHeaders(open.storage) }),
    ...(open.download === "content" ? {} : { download: open.download }),
    ...(open.completeBody === "none" ? {} : { completeUploadBody: completeBodies[open.completeBody] })
  }
}

const completeBodies = {
  empty: {},
  named: { uid: "{file_id}", e_tag: "{etag}", byteCount: "{size}", label: "{name}", mime: "{type}", done: true }
} as const

/**
 * The headers that a single PUT must have.
 */
export const encryptionHeaders = (storage: ServiceVariation["open"]["storage"]): Readonly<Record<string, string>> => ({
  [`x-${storage}-server-side-encryption`]: storage === "amz" ? "aws:kms" : `${storage}:kms`
})

/** The profile with which a client understands the service: its sandbox takes parts of any size. */
export const profile = (variation: ServiceVariation): ServiceProfile.ServiceProfile =>
  Schema.decodeUnknownSync(ServiceProfile.ServiceProfile)({
    ...profileFields(variation),
    limits: { minimumPartSize: 1 }
  })
