import * as Data from "effect/Data"

/** What is not done for an agent: why, and what to do instead. */
export class Refused extends Data.TaggedError("Refused")<{
  readonly reason: string
  readonly next: string
}> {
  override get message(): string {
    return `${this.reason}. ${this.next}`
  }
}

export const refused = (reason: string, next: string): Refused => new Refused({ reason, next })
