/** The listeners of a queue. */
export interface Listeners {
  readonly subscribe: (listener: () => void) => () => void
  /**
   * Calls each listener. An exception in one reaches the page's own handlers and does not keep the others from being
   * called.
   */
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

/** Calls a function of the page. An exception reaches the page's own handlers. */
export const call = (listener: () => void): void => {
  try {
    listener()
  } catch (error) {
    report(error)
  }
}

export const make = (): Listeners => {
  const listeners = new Set<() => void>()
  return {
    subscribe: (listener) => {
      // every subscription is separate, even for the same function
      const own = () => listener()
      listeners.add(own)
      return () => listeners.delete(own)
    },
    tell: () => Array.from(listeners).forEach(call)
  }
}
