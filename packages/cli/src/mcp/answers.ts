/** What a model gets: a sentence, and the same as data. A refusal says why, and what to do instead. */
import { ErrorKind } from "@stevedore/core/ErrorKind"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { messageOf } from "../print/message.js"

/** Why something is not done. */
export const Refusal = Schema.Struct({
  kind: ErrorKind,
  reason: Schema.String,
  /** What to do instead. */
  next: Schema.String,
  /** In seconds. */
  retry_after: Schema.optional(Schema.Number)
})

export type Refusal = typeof Refusal.Type

/** What is not done for an agent. */
export class Refused extends Data.TaggedError("Refused")<{ readonly refusal: Refusal }> {
  override get message(): string {
    return sentenceOf(this.refusal)
  }
}

export const sentenceOf = ({ next, reason }: Refusal): string => `${reason}. ${next}`

/** For what a call names. */
export const refused = (reason: string, next: string): Refused =>
  new Refused({ refusal: { kind: "input", reason, next } })

const nextOf: Readonly<Record<ErrorKind, string>> = {
  input: "Change what the call names, or tell the user.",
  tryLater: "Try the same call again in a minute.",
  configuration: "Tell the user: the token, its permissions or the settings of this server are wrong.",
  outcomeUnknown: "Ask for the list or the file before you begin it again.",
  refused: "Change what the call names, or tell the user."
}

/** An error that a tool may end with. */
export type Failure = Refused | {
  readonly kind: ErrorKind
  readonly message: string
  readonly retryAfter?: Duration.Duration | undefined
}

/** The same in words for a model. */
export const refusalOf = (error: Failure): Refusal => {
  if ("refusal" in error) return error.refusal
  const { kind, retryAfter } = error
  const reason = messageOf(error).replace(/[.\s]+$/, "").slice(0, 600)
  if (retryAfter === undefined) return { kind, reason, next: nextOf[kind] }
  const seconds = Math.ceil(Duration.toSeconds(retryAfter))
  return { kind, reason, next: `Try the same call again in ${seconds} seconds.`, retry_after: seconds }
}

/** What a tool answers: a sentence for who reads text alone, and data. */
export interface Answer {
  readonly message: string
  readonly [name: string]: unknown
}

/** Whether it costs the user no more than it should, in characters. */
export const isShort = (answer: Answer): boolean => JSON.stringify(answer).length <= 3_500

const resultOf = ({ message, ...content }: Answer, isError: boolean) => ({
  content: [{ type: "text" as const, text: message }],
  structuredContent: content,
  isError
})

/** The result of a call that was refused. */
export const failed = (refusal: Refusal) => resultOf({ message: sentenceOf(refusal), ...refusal }, true)

/** The result of a call. */
export const answered = (answer: Answer) =>
  isShort(answer)
    ? resultOf(answer, false)
    : failed({ kind: "input", reason: "The answer is too long", next: "Ask for less, such as fewer items of a list." })
