import * as Measure from "@stevedore/core/parts/measure"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { basename } from "node:path"
import * as UploadBoard from "../files/board.js"
import type { Counts } from "../files/outcomes.js"
import { margin, Output, type TerminalSize } from "../print/output.js"
import * as ProgressBar from "../print/progressBar.js"

/** A file that is being downloaded. */
interface Active {
  readonly name: string
  received: number
  size: Option.Option<number>
}

/** Shows the downloads of one command on a terminal: a bar for each file, and one for all. */
export interface DownloadWatch {
  /** Shows a download while this effect runs. */
  readonly during: <A, E, R>(
    path: string,
    download: (onProgress: (received: number, size: Option.Option<number>) => void) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E, R>
  /** Shows nothing any more. */
  readonly end: Effect.Effect<void>
}

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
  const bars = active.map(({ name, received, size }) =>
    UploadBoard.named(name, columns, (room) => ProgressBar.renderBytes({ received, size }, room))
  )
  return [...UploadBoard.asManyAsFit(bars, terminal, columns), total(files, counts, columns)]
}

export const make = (files: number, counts: () => Counts): Effect.Effect<DownloadWatch, never, Output | Scope.Scope> =>
  Effect.gen(function*() {
    const output = yield* Output
    const active = new Set<Active>()
    let isOver = false
    const draw = Effect.flatMap(
      output.terminal,
      Option.match({
        onNone: () => Effect.void,
        onSome: (terminal) =>
          Effect.suspend(() => isOver ? Effect.void : output.status(lines([...active], files, counts(), terminal)))
      })
    )
    yield* Effect.addFinalizer(() => output.status([]))
    yield* Effect.forkScoped(Effect.schedule(draw, Schedule.spaced("100 millis")))
    return {
      during: (path, download) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            const one: Active = { name: basename(path), received: 0, size: Option.none() }
            active.add(one)
            return one
          }),
          (one) =>
            download((received, size) => {
              one.received = received
              one.size = size
            }),
          (one) => Effect.sync(() => active.delete(one))
        ),
      end: Effect.suspend(() => {
        isOver = true
        return output.status([])
      })
    }
  })
