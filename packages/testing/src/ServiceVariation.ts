/**
 * Services that keep every sentence of the interface, and differ in everything that it leaves open: a value that a seed
 * makes, that prints, and that a sandbox takes as an option.
 */
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import * as ListResources from "@stevedore/server/parts/listResources"
import * as Arbitrary from "effect/Arbitrary"
import * as Duration from "effect/Duration"
import * as FastCheck from "effect/FastCheck"
import * as Hash from "effect/Hash"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { plainVariation, standardNames, standardOpen } from "./internal/plainVariation.js"
import { Answers, Completion, Download, Lists, Open, Records, Session, Storage } from "./internal/variationGroups.js"

/**
 * A service that keeps every sentence of the interface.
 *
 * @category models
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

/** @category models */
export interface ServiceVariation extends Schema.Schema.Type<typeof ServiceVariation> {}

const anyVariation = Arbitrary.make(ServiceVariation)

const sampled = (seed: number): ServiceVariation | undefined => FastCheck.sample(anyVariation, { seed, numRuns: 1 })[0]

const scrambled = (seed: number): number => Hash.string(`service ${seed}`)

/**
 * The service of a seed, a whole number. The same seed gives the same service. Three of four are served by the standard
 * profile; the others need the one that {@link profile} gives.
 *
 * @example
 * import { Uploads, UploadSources } from "@stevedore/core"
 * import { Sandbox, SandboxLayer, ServiceVariation } from "@stevedore/testing"
 * import { Effect } from "effect"
 *
 * const notes = UploadSources.fromBytes("notes.txt", new TextEncoder().encode("hello"))
 *
 * export const survives = (seed: number) =>
 *   Effect.zipRight(Uploads.upload(notes), Sandbox.expectStored(notes)).pipe(
 *     Effect.provide(SandboxLayer.memory({ variation: ServiceVariation.fromSeed(seed) }))
 *   )
 *
 * @category constructors
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
 *
 * @category constants
 */
export const plain: ServiceVariation = plainVariation

const otherPaths = {
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
 *
 * @category conversions
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
 *
 * @category accessors
 */
export const encryptionHeaders = (storage: ServiceVariation["open"]["storage"]): Readonly<Record<string, string>> => ({
  [`x-${storage}-server-side-encryption`]: storage === "amz" ? "aws:kms" : `${storage}:kms`
})

/**
 * The profile with which a client understands the service.
 *
 * @category conversions
 */
export const profile = (variation: ServiceVariation): ServiceProfile.ServiceProfile =>
  Schema.decodeUnknownSync(ServiceProfile.ServiceProfile)(profileFields(variation))

const withSerials = (count: number) =>
  ListResources.seedProjects(count).map((project, serial) => ({ ...project, serial }))

/**
 * The options of a sandbox that follow from the variation. Options that are given beside it take precedence.
 *
 * @category conversions
 */
export const options = (variation: ServiceVariation) => {
  const { completion, download, lists, open, storage } = variation
  return {
    encryptionHeaders: encryptionHeaders(open.storage),
    signPartEncryption: storage.urls === "SigV4" && storage.signsPartEncryption,
    urlLifetime: Duration.minutes(storage.partMinutes),
    singleUrlLifetime: Duration.minutes(storage.singleMinutes),
    processing: Duration.seconds(completion.pendingSeconds),
    download: open.download === "link"
      ? "link" as const
      : download.redirects > 0
      ? "redirect" as const
      : "content" as const,
    paths: open.paths === "standard" ? {} : otherPaths,
    largestPage: lists.largestPage,
    projects: withSerials(lists.items)
  }
}
