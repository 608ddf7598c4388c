import * as Effect from "effect/Effect"

interface State {
  readonly online: boolean
  readonly visible: boolean
}

/** Whether there may be a network. Only `false` says something: Bun, Deno and workerd know nothing of it. */
export const isOnline = (): boolean => globalThis.navigator?.onLine !== false

/** Calls back whenever the state may have changed or the page woke up. Returns a function that stops it. */
const listen = (onChange: () => void): () => void => {
  if (typeof document === "undefined") {
    // Chromium tells a worker nothing: an upload in one would wait forever
    const timer = setInterval(onChange, 1000)
    return () => clearInterval(timer)
  }
  const targets: ReadonlyArray<readonly [EventTarget, ReadonlyArray<string>]> = [
    [globalThis, ["online", "offline", "pageshow", "resume"]],
    [document, ["visibilitychange", "resume"]]
  ]
  const each = (act: (target: EventTarget, event: string) => void) => {
    for (const [target, events] of targets) events.forEach((event) => act(target, event))
  }
  each((target, event) => target.addEventListener(event, onChange))
  return () => each((target, event) => target.removeEventListener(event, onChange))
}

/** Waits until something holds of the state that the browser reports. */
export const until = (holds: (state: State) => boolean): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    const look = () => {
      const visible = typeof document === "undefined" || document.visibilityState === "visible"
      if (!holds({ online: isOnline(), visible })) return
      stop()
      resume(Effect.void)
    }
    const stop = listen(look)
    look()
    return Effect.sync(stop)
  })
