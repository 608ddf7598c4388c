import * as Measure from "@stevedore/core/parts/measure"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { basename } from "node:path"
import * as UploadBoard from "../files/board.js"
import type { Counts } from "../files/outcomes.js"
import { drawing, margin, type Output, type TerminalSize } from "../print/output.js"
import * as ProgressBar from "../print/progressBar.js"

/** A file that is being downloaded. */
interface Active {
  readonly name: string
  received: number
  size: Option.Option<number>
}

/** Shows a download on a terminal while this effect runs. */
export type During = <A, E, R>(
  path: string,
  download: (onProgress: (received: number, size: Option.Option<number>) => void) => Effect.Effect<A, E, R>
) => Effect.Effect<A, E, R>

const total = (files: number, { done, failed, there }: Counts, columns: number): string => {
  const settled = done + there + failed
  const words = [`${done + there} of ${files} files`, ...(failed === 0 ? [] : [`${failed} failed`])]
  return ProgressBar.drawn(Measure.percent(settled, files), [words, []], columns)
}

const lines = (
  active: ReadonlyArray<Active>,
  files: number,
  counts: Counts,
  terminal: TerminalSize
): ReadonlyArray<string> => {
  const columns = Math.max(1, terminal.columns - margin)
  const [first] = active
  if (files === 1) return first === undefined ? [] : [ProgressBar.renderBytes(first, columns)]
  const bars = active.map((one) => UploadBoard.named(one.name, columns, (room) => ProgressBar.renderBytes(one, room)))
  return [...UploadBoard.asManyAsFit(bars, terminal, columns), total(files, counts, columns)]
}

/** Shows the downloads of one command on a terminal: a bar for each file, and one for all of several. */
export const make = (files: number, counts: () => Counts): Effect.Effect<During, never, Output | Scope.Scope> =>
  Effect.gen(function*() {
    const active = new Set<Active>()
    yield* drawing((terminal) => Effect.sync(() => lines([...active], files, counts(), terminal)))
    return (path, download) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          const one: Active = { name: basename(path), received: 0, size: Option.none() }
          active.add(one)
          return one
        }),
        (one) => download((received, size) => Object.assign(one, { received, size })),
        (one) => Effect.sync(() => active.delete(one))
      )
  })
