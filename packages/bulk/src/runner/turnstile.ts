import * as Effect from "effect/Effect"

/** How many files a process uploads at once, over all jobs. */
export interface Turnstile {
  readonly one: (job: number) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Nothing else runs meanwhile. */
  readonly alone: (job: number) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/**
 * A file of each job in turn: the files of a job wait in a line of their own, and only the first of each line stands at
 * the turnstile. There it goes in order of arrival, so that whoever wants all permits gets them although others only want
 * one.
 */
export const make = (permits: number): Effect.Effect<Turnstile> =>
  Effect.map(Effect.all([Effect.makeSemaphore(1), Effect.makeSemaphore(permits)]), ([turn, free]) => {
    const lines = new Map<number, Effect.Semaphore>()
    const lineOf = (job: number): Effect.Semaphore => {
      const line = lines.get(job) ?? Effect.unsafeMakeSemaphore(1)
      lines.set(job, line)
      return line
    }
    const taking = (count: number) => (job: number) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.uninterruptibleMask((restore) => {
        const line = lineOf(job)
        const passed = restore(turn.take(1)).pipe(
          Effect.flatMap(() => Effect.ensuring(restore(free.take(count)), turn.release(1)))
        )
        return restore(line.take(1)).pipe(
          Effect.flatMap(() => Effect.ensuring(passed, line.release(1))),
          Effect.flatMap(() => Effect.ensuring(restore(effect), free.release(count)))
        )
      })
    return { one: taking(1), alone: taking(permits) }
  })
