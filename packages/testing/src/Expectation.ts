/**
 * What a test expects of a sandbox, and how it learns that it was wrong: typed errors whose message shows the
 * difference, for any test runner.
 */
import type { SourceError } from "@stevedore/core/SourceError"
import { SourceUnreadable } from "@stevedore/core/SourceError"
import type { OpenSource, UploadSource } from "@stevedore/core/UploadSource"
import type * as StorageRefused from "@stevedore/server/StorageRefused"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import * as InProcess from "./sandbox/inProcess.js"
import * as SandboxReport from "./SandboxReport.js"

/**
 * No finalized file of the sandbox has the source's name.
 *
 * @category errors
 */
export class NothingStored extends Schema.TaggedError<NothingStored>("@stevedore/testing/NothingStored")(
  "NothingStored",
  {
    fileName: Schema.String,
    /** The names of the finalized files. */
    finalized: Schema.Array(Schema.String)
  }
) {
  override get message(): string {
    const others = this.finalized.map((name) => JSON.stringify(name)).join(", ")
    return `No file ${JSON.stringify(this.fileName)} is finalized: the sandbox has ${
      others === "" ? "none at all" : others
    }.`
  }
}

/**
 * The stored bytes differ from the source. Sizes and `offset` are in bytes; `expected` and `stored` are up to eight
 * bytes from there, in hexadecimal.
 *
 * @category errors
 */
export class StoredDiffers extends Schema.TaggedError<StoredDiffers>("@stevedore/testing/StoredDiffers")(
  "StoredDiffers",
  {
    fileName: Schema.String,
    fileId: Schema.String,
    expectedSize: Schema.NonNegativeInt,
    storedSize: Schema.NonNegativeInt,
    /** The first byte that differs, or that only one of the two has. */
    offset: Schema.NonNegativeInt,
    expected: Schema.String,
    stored: Schema.String
  }
) {
  override get message(): string {
    const sizes = this.expectedSize === this.storedSize
      ? `${this.storedSize} bytes as expected`
      : `${this.storedSize} bytes instead of ${this.expectedSize}`
    const show = (bytes: string) => bytes === "" ? "the end" : bytes
    return `${
      JSON.stringify(this.fileName)
    } differs from what is stored as ${this.fileId}: ${sizes}, and from byte ${this.offset} on ` +
      `${show(this.stored)} instead of ${show(this.expected)}.`
  }
}

/**
 * The sandbox noticed that the client broke the contract.
 *
 * @category errors
 */
export class ContractBroken extends Schema.TaggedError<ContractBroken>("@stevedore/testing/ContractBroken")(
  "ContractBroken",
  {
    breaches: Schema.NonEmptyArray(SandboxReport.Breach),
    /** For each breach, the request that caused it. */
    requests: Schema.Array(Schema.String)
  }
) {
  override get message(): string {
    const lines = this.breaches.map(({ message, rule }, index) =>
      `  ${rule}: ${message} (${this.requests[index] ?? ""})`
    )
    return [`The client broke the contract ${this.breaches.length} times:`, ...lines].join("\n")
  }
}

/**
 * Everything that an expectation can fail with.
 *
 * @category errors
 */
export type ExpectationFailed = NothingStored | StoredDiffers | ContractBroken

/**
 * A stored file to compare. `size` is in bytes.
 *
 * @category models
 */
export interface Stored {
  readonly fileId: string
  readonly size: number
  readonly read: (
    range: { readonly offset: number; readonly length: number }
  ) => Stream.Stream<Uint8Array, StorageRefused.StorageRefused>
}

// this much of each side is in memory at once
const WINDOW_BYTES = 1024 * 1024
const SHOWN_BYTES = 8

const readSource = (
  name: string,
  opened: OpenSource,
  offset: number,
  length: number
): Effect.Effect<Uint8Array, SourceError> =>
  Effect.scoped(Effect.gen(function*() {
    const section = yield* opened.section({ offset, length })
    const body = yield* section.body(() => {})
    if (body._tag === "BytesBody") {
      return body.bytes
    }
    return yield* body._tag === "StreamBody"
      ? InProcess.collect(body.stream)
      : Effect.mapError(
        InProcess.collect(InProcess.rawBody(body._tag === "BlobBody" ? body.blob : body.content)),
        () => new SourceUnreadable({ fileName: name, reason: "Failed", attempts: 0 })
      )
  }))

const differenceIn = (expected: Uint8Array, stored: Uint8Array): number | undefined => {
  const length = Math.min(expected.byteLength, stored.byteLength)
  for (let index = 0; index < length; index++) {
    if (expected[index] !== stored[index]) {
      return index
    }
  }
  return expected.byteLength === stored.byteLength ? undefined : length
}

const hexadecimal = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(" ")

/**
 * Fails with the first difference between a source and what is stored. Both are read in pieces of 1 MiB.
 *
 * @category assertions
 */
export const isStoredAs = (
  source: UploadSource,
  stored: Stored
): Effect.Effect<void, StoredDiffers | SourceError | StorageRefused.StorageRefused> =>
  Effect.scoped(Effect.gen(function*() {
    const opened = yield* source.open
    const longest = Math.max(source.size, stored.size)
    for (let from = 0; from < longest; from += WINDOW_BYTES) {
      const length = (size: number) => Math.max(0, Math.min(WINDOW_BYTES, size - from))
      const expectedBytes = length(source.size) === 0
        ? new Uint8Array(0)
        : yield* readSource(source.name, opened, from, length(source.size))
      const storedBytes = length(stored.size) === 0
        ? new Uint8Array(0)
        : yield* InProcess.collect(stored.read({ offset: from, length: length(stored.size) }))
      const at = differenceIn(expectedBytes, storedBytes)
      if (at !== undefined) {
        const shown = (bytes: Uint8Array) => hexadecimal(bytes.subarray(at, at + SHOWN_BYTES))
        return yield* new StoredDiffers({
          fileName: source.name,
          fileId: stored.fileId,
          expectedSize: source.size,
          storedSize: stored.size,
          offset: from + at,
          expected: shown(expectedBytes),
          stored: shown(storedBytes)
        })
      }
    }
  }))

const requestLine = (request: SandboxReport.SeenRequest | undefined): string =>
  request === undefined
    ? ""
    : [
      request.operation,
      ...(request.part === undefined ? [] : [`of part ${request.part}`]),
      ...(request.fileId === undefined ? [] : [`of file ${request.fileId}`]),
      `attempt ${request.attempt}`
    ].join(", ").replace(", of", " of")

/**
 * Fails with every breach in a report.
 *
 * @category assertions
 */
export const isWithoutBreach = (report: SandboxReport.SandboxReport): Effect.Effect<void, ContractBroken> => {
  const [first, ...others] = report.breaches
  return first === undefined ? Effect.void : new ContractBroken({
    breaches: [first, ...others],
    requests: report.breaches.map(({ request }) => requestLine(report.requests[request]))
  })
}
