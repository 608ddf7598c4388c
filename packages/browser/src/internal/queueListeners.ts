/** Who wants to know that the queue has changed. */
export interface Listeners {
  readonly subscribe: (listener: () => void) => () => void
  /** Calls each of them; the exception of one reaches the page's own handlers, and keeps nobody else from being told. */
  readonly tell: () => void
}

const report = (error: unknown): void => {
  if ("reportError" in globalThis) reportError(error)
  else {
    queueMicrotask(() => {
      throw error
    })
  }
}

export const make = (): Listeners => {
  const listeners = new Set<() => void>()
  return {
    subscribe: (listener) => {
      // each subscription is one of its own, though the function be the same
      const own = () => listener()
      listeners.add(own)
      return () => listeners.delete(own)
    },
    tell: () => {
      for (const listener of Array.from(listeners)) {
        try {
          listener()
        } catch (error) {
          report(error)
        }
      }
    }
  }
}
