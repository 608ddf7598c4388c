import { Effect } from "effect"

/**
 * A process as far as anybody outside sees it. Each call that it makes is two events, one before it and one after: at the
 * event that it does not survive, it is silent for ever.
 */
export class Life {
  events = 0
  constructor(readonly until = Infinity) {}

  private readonly gate: Effect.Effect<void> = Effect.suspend(() =>
    ++this.events > this.until ? Effect.never : Effect.void
  )

  /** The same service, reached by this life. */
  through<S extends object>(service: S): S {
    return new Proxy(service, {
      get: (target, name, receiver) => {
        const member: unknown = Reflect.get(target, name, receiver)
        if (typeof member !== "function") return member
        return (...args: ReadonlyArray<unknown>) => {
          const answer: unknown = Reflect.apply(member, target, args)
          return Effect.isEffect(answer) ? Effect.zipLeft(Effect.zipRight(this.gate, answer), this.gate) : answer
        }
      }
    })
  }
}
