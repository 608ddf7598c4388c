import type { UploadError } from "@stevedore/core/UploadError"
import type * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import { Output, type OutputFailed } from "../Output.js"
import * as Printable from "../Printable.js"
import * as Reports from "../Reports.js"
import { messageOf } from "./message.js"

/**
 * The files of one command that failed, reported as they fail. A failure that applies to several files is one error,
 * and is reported with the first; in JSON each file has its line.
 *
 * @internal
 */
export interface FailedFiles {
  readonly add: (path: string, error: UploadError) => Effect.Effect<void, OutputFailed, Output>
  /** Reports how many files failed without a message of their own. */
  readonly tellRest: Effect.Effect<void, never, Output>
  readonly count: Effect.Effect<number>
}

/** @internal */
export const make = (json: boolean): FailedFiles => {
  const paths = new Map<UploadError, Arr.NonEmptyArray<string>>()
  return {
    add: (path, error) =>
      Effect.gen(function*() {
        const output = yield* Output
        const before = paths.get(error)
        if (before === undefined) {
          paths.set(error, [path])
          yield* output.warn(`${Printable.line(path)}: ${messageOf(error)}`)
        } else {
          before.push(path)
        }
        if (json) yield* output.json([Reports.failed(path, error)])
      }),
    tellRest: Effect.flatMap(Output, (output) =>
      Effect.forEach(paths.values(), ([first, ...more]) =>
        Effect.when(
          output.warn(
            `${more.length} more ${more.length === 1 ? "file" : "files"} failed for the same reason as ${
              Printable.line(first)
            }`
          ),
          () => more.length > 0
        ), { discard: true })),
    count: Effect.sync(() => [...paths.values()].reduce((sum, { length }) => sum + length, 0))
  }
}
