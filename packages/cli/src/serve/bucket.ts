/** `stevedore bucket`: the bucket of one's own service. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as ErrorKind from "@stevedore/core/ErrorKind"
import * as S3Bucket from "@stevedore/server/S3Bucket"
import * as ServeSettings from "@stevedore/server/ServeSettings"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { invalid, setting } from "../options/invalidInput.js"
import { Output } from "../print/output.js"
import type * as Given from "./options.js"

const originsOf = (given: Option.Option<string>) =>
  Option.match(given, {
    onNone: () => setting(ServeSettings.origins),
    onSome: (text) => Effect.mapError(ServeSettings.readOrigins(text), (problem) => invalid("--origins", problem))
  })

/** A check of the bucket has failed. */
export class BucketFailed extends Schema.TaggedError<BucketFailed>("@stevedore/cli/BucketFailed")("BucketFailed", {
  kind: ErrorKind.field("configuration"),
  problem: Schema.String
}) {
  override get message(): string {
    return `The bucket: ${this.problem}`
  }
}

const marks = { ok: "ok", warning: "note", failed: "FAILED" } as const

const shown = (documents: ReadonlyArray<S3Bucket.Document>) =>
  documents.flatMap(({ subresource, xml }) => [`${subresource}:`, xml])

const examined = (options: Given.Storing, first: typeof S3Bucket.setup | (() => Effect.Effect<void>)) =>
  Effect.gen(function*() {
    const output = yield* Output
    const origins = yield* originsOf(options.origins)
    const store = yield* setting(ServeSettings.store)
    yield* first(store, origins)
    const findings = yield* S3Bucket.check(store, origins)
    yield* options.json
      ? output.json(findings)
      : output.lines(findings.map(({ message, outcome, subject }) => `${marks[outcome]}  ${subject}: ${message}`))
    const failed = findings.filter(({ outcome }) => outcome === "failed")
    if (failed.length > 0) {
      return yield* new BucketFailed({ problem: `${failed.length} of ${findings.length} checks failed` })
    }
  }).pipe(
    Effect.catchTag("StorageRefused", ({ message }) => new BucketFailed({ problem: message })),
    Effect.provide(FetchHttpClient.layer),
    // one is an answer of the store, and its target another's
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" })
  )

/** Checks the bucket. */
export const check = (options: Given.Storing) => examined(options, () => Effect.void)

/** Sets the bucket up, and checks it; or prints what it would write. */
export const setup = (options: Given.SettingUp) =>
  options.print
    ? Effect.gen(function*() {
      const output = yield* Output
      const documents = S3Bucket.documents(yield* originsOf(options.origins))
      yield* options.json ? output.json(documents) : output.lines(shown(documents))
    })
    : examined(options, S3Bucket.setup)
