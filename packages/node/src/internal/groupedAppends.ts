import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"

interface Group<E> {
  readonly contents: Array<string>
  readonly written: Deferred.Deferred<void, E>
}

// A sync occupies one of the few threads for files while it waits for the disk
const atOnce = 2

/**
 * Appends that wait for the disk, grouped: what is to be appended to a file while another append is on its way goes with
 * the next one, all of it for one sync. Each ends when its own bytes are on the disk, and not before, even if it is
 * interrupted. Those to one file follow each other: the first one also syncs the name of a new file.
 */
export const make = <E>(
  append: (path: string, content: string) => Effect.Effect<void, E>
): Effect.Effect<(path: string, content: string) => Effect.Effect<void, E>> =>
  Effect.map(Effect.makeSemaphore(atOnce), (turns) => {
    const waiting = new Map<string, Group<E>>()
    const latest = new Map<string, Group<E>>()
    const begun = (path: string, content: string): Effect.Effect<void, E> => {
      const group: Group<E> = { contents: [content], written: Deferred.unsafeMake(FiberId.none) }
      const before = latest.get(path)
      waiting.set(path, group)
      latest.set(path, group)
      const writing = Effect.suspend(() => {
        waiting.delete(path)
        return append(path, group.contents.join(""))
      })
      const inTurn = Effect.zipRight(
        before === undefined ? Effect.void : Effect.exit(Deferred.await(before.written)),
        turns.withPermits(1)(writing)
      )
      const over = Effect.sync(() => {
        if (latest.get(path) === group) latest.delete(path)
      })
      return Effect.zipRight(
        Effect.intoDeferred(Effect.ensuring(inTurn, over), group.written),
        Deferred.await(group.written)
      )
    }
    return (path, content) =>
      Effect.uninterruptible(Effect.suspend(() => {
        const group = waiting.get(path)
        if (group === undefined) return begun(path, content)
        group.contents.push(content)
        return Deferred.await(group.written)
      }))
  })
