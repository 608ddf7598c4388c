import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"

/** What is to be appended to a file with one write. */
interface Group<E> {
  readonly contents: Array<string>
  /** Called with how the write ended. */
  readonly waiters: Array<(exit: Exit.Exit<void, E>) => void>
  /** How the write ended, for who comes to wait only then. */
  ended: Exit.Exit<void, E> | undefined
}

interface Queued {
  readonly path: string
  readonly start: () => void
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
): (path: string, content: string) => Effect.Effect<void, E> => {
  const waiting = new Map<string, Group<E>>()
  const writing = new Set<string>()
  const queued: Array<Queued> = []

  const startNext = (): void => {
    const next = writing.size < atOnce ? queued.find(({ path }) => !writing.has(path)) : undefined
    if (next === undefined) return
    queued.splice(queued.indexOf(next), 1)
    writing.add(next.path)
    next.start()
    startNext()
  }

  const turn = (path: string) =>
    Effect.async<void>((resume) => {
      queued.push({ path, start: () => resume(Effect.void) })
      startNext()
    })

  const begun = (path: string, content: string): Effect.Effect<void, E> => {
    const group: Group<E> = { contents: [content], waiters: [], ended: undefined }
    waiting.set(path, group)
    const written = Effect.flatMap(turn(path), () => {
      waiting.delete(path)
      return append(path, group.contents.join(""))
    })
    return Effect.flatMap(Effect.exit(written), (exit) => {
      writing.delete(path)
      startNext()
      group.ended = exit
      group.waiters.forEach((tell) => tell(exit))
      return exit
    })
  }

  return (path, content) =>
    Effect.uninterruptible(Effect.suspend(() => {
      const group = waiting.get(path)
      if (group === undefined) return begun(path, content)
      group.contents.push(content)
      return Effect.async<void, E>((resume) => {
        if (group.ended === undefined) group.waiters.push(resume)
        else resume(group.ended)
      })
    }))
}
