/** What the browser tells of itself, as it is now. */
export const read = (): { readonly online: boolean; readonly visible: boolean } => ({
  online: navigator.onLine,
  visible: typeof document === "undefined" || document.visibilityState === "visible"
})

/**
 * Calls back whenever that may have changed, or the page woke up, until it is told to stop.
 *
 * @internal
 */
export const listen = (onChange: () => void): () => void => {
  const targets: ReadonlyArray<readonly [EventTarget, ReadonlyArray<string>]> = [
    [globalThis, ["online", "offline", "pageshow", "resume"]],
    ...(typeof document === "undefined" ? [] : [[document, ["visibilitychange", "resume"]] as const])
  ]
  const each = (act: (target: EventTarget, event: string) => void) => {
    for (const [target, events] of targets) events.forEach((event) => act(target, event))
  }
  each((target, event) => target.addEventListener(event, onChange))
  return () => each((target, event) => target.removeEventListener(event, onChange))
}
