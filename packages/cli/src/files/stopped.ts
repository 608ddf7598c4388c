import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { again } from "../options/commandWords.js"
import { Output } from "../print/output.js"

/** How far an upload command had come when it was stopped, in files. */
export interface Stopped {
  readonly files: number
  readonly uploaded: number
  /** Those that were also reported as uploaded: nothing of them is known any more, or soon will be. */
  readonly reported: number
  readonly resumable: boolean
}

/** Tells whether the command has to be run again. If every file was reported, it would upload every file again. */
export const tell = ({ files, reported, resumable, uploaded }: Stopped) =>
  Effect.gen(function*() {
    const output = yield* Output
    if (reported === files) {
      return yield* output.warn(
        `Stopped after ${files === 1 ? "the file was" : `all ${files} files were`} uploaded: nothing is left to resume.`
      )
    }
    const standing = files === 1 ? "Stopped." : `Stopped: ${uploaded} of ${files} files uploaded.`
    yield* output.warn(
      resumable
        ? `${standing} To resume:\n  ${yield* again}`
        : `${standing} With --no-resume, the rest cannot be resumed.`
    )
  })

/**
 * Tells something at the end of a command that is stopped, which does not wait long for whoever reads it: in a fiber of
 * its own, since this one can do nothing any more that can be ended.
 */
export const readWithin = <A, E, R>(telling: Effect.Effect<A, E, R>): Effect.Effect<void, never, R> =>
  Effect.flatMap(
    Effect.forkDaemon(Effect.timeout(Effect.interruptible(telling), "2 seconds")),
    (fiber) => Effect.asVoid(Fiber.await(fiber))
  )
