import type { Checksum, ChecksumAlgorithm, RunningChecksum } from "@stevedore/core/Checksum"
import * as Checksums from "@stevedore/core/Checksum"
import { DownloadCorrupted, InvalidChecksum } from "@stevedore/core/DownloadError"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import type { TargetUnwritable } from "../DownloadTargetError.js"
import * as NodeChecksum from "../NodeChecksum.js"
import type { PartFile } from "./partFile.js"
import * as PartFiles from "./partFile.js"

/** What the bytes of a download should be, and how to compute it. */
export interface Wanted {
  readonly checksum: Checksum
  readonly algorithm: ChecksumAlgorithm
}

const lengthOf = (value: string): Option.Option<number> =>
  Option.map(Option.getRight(Encoding.decodeBase64(value)), (bytes) => bytes.byteLength)

const isValueOf = (algorithm: ChecksumAlgorithm, value: string): boolean =>
  Option.exists(
    Option.all([lengthOf(value), lengthOf(algorithm.begin().value())]),
    ([length, own]) => length === own
  )

/** The checksum that the caller expects. Refused before any request if it cannot be computed. */
export const wanted = (
  fileId: string,
  checksum: Checksum | undefined
): Effect.Effect<Option.Option<Wanted>, InvalidChecksum> => {
  if (checksum === undefined) return Effect.succeedNone
  const refused = (problem: "algorithm" | "value") =>
    Effect.fail(new InvalidChecksum({ fileId, algorithm: checksum.algorithm, problem }))
  return Effect.flatMap(
    NodeChecksum.named(checksum.algorithm),
    Option.match({
      onNone: () => refused("algorithm"),
      onSome: (algorithm) =>
        isValueOf(algorithm, checksum.value) ? Effect.succeedSome({ checksum, algorithm }) : refused("value")
    })
  )
}

/** The first of storage's checksums that can be computed here. */
export const reportedChecksum = (checksums: Readonly<Record<string, string>>): Effect.Effect<Option.Option<Wanted>> =>
  Effect.map(
    Effect.forEach(Object.entries(checksums), ([name, value]) =>
      Effect.map(
        NodeChecksum.named(name),
        Option.flatMap((algorithm) =>
          isValueOf(algorithm, value)
            ? Option.some({ algorithm, checksum: { algorithm: name, value } })
            : Option.none()
        )
      )),
    Option.firstSomeOf
  )

/** Hashes the ranges of one file, in any order. */
export interface Comparison {
  /** Starts hashing the range at this offset. It must receive every chunk of the range. */
  readonly begin: (offset: number) => { readonly update: (chunk: Uint8Array) => void }
  /** Hashes a range that is already in the file. */
  readonly reread: (
    range: { readonly offset: number; readonly length: number }
  ) => Effect.Effect<void, TargetUnwritable>
  /** Run once every byte is in the file. Gives what it was compared with, or fails with `DownloadCorrupted`. */
  readonly end: Effect.Effect<Option.Option<Checksum>, DownloadCorrupted | TargetUnwritable>
}

const none: Comparison = {
  begin: () => ({ update: () => undefined }),
  reread: () => Effect.void,
  end: Effect.succeedNone
}

interface HashedRange {
  readonly offset: number
  size: number
  readonly running: RunningChecksum
}

export const make = (fileId: string, file: PartFile, wanted: Option.Option<Wanted>): Comparison =>
  Option.match(wanted, { onNone: () => none, onSome: (wanted) => comparing(fileId, file, wanted) })

const comparing = (fileId: string, file: PartFile, { algorithm, checksum }: Wanted): Comparison => {
  const ranges: Array<HashedRange> = []

  const begin: Comparison["begin"] = (offset) => {
    const range: HashedRange = { offset, size: 0, running: algorithm.begin() }
    ranges.push(range)
    return {
      update: (chunk) => {
        range.size += chunk.byteLength
        range.running.update(chunk)
      }
    }
  }

  const reread: Comparison["reread"] = ({ length, offset }) =>
    Effect.suspend(() => PartFiles.read(file, { offset, length }, begin(offset).update))

  const whole = Effect.suspend(() => {
    const parts = ranges.sort((one, other) => one.offset - other.offset)
      .map(({ running, size }) => ({ checksum: running.value(), size }))
    return Option.match(Checksums.combineAll(algorithm, parts), {
      onSome: ({ value }) => Effect.succeed(value),
      onNone: () => {
        const running = algorithm.begin()
        const length = parts.reduce((sum, { size }) => sum + size, 0)
        return Effect.map(PartFiles.read(file, { offset: 0, length }, running.update), () => running.value())
      }
    })
  })

  const end = Effect.flatMap(whole, (received) =>
    received === checksum.value
      ? Effect.succeedSome(checksum)
      : Effect.fail(
        new DownloadCorrupted({ fileId, algorithm: algorithm.name, expected: checksum.value, received })
      ))

  return { begin, reread, end }
}
