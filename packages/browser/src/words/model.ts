/** What a language has words for. */
import type { english } from "./english.js"

/**
 * A text in which `{name}` and the like are replaced. If it depends on `{count}`, one for each of the language's plural
 * categories.
 *
 * @category models
 */
export type Message = string | { readonly [category in Intl.LDMLPluralRule]?: string } & { readonly other: string }

/**
 * A language. Replace what you want to say differently: `{ ...english, messages: { ...english.messages, done: "Sent" } }`.
 *
 * @category models
 */
export interface Words {
  /** For `Intl`, such as `de` or `de-CH`. */
  readonly language: string
  readonly messages: { readonly [key in MessageKey]: Message }
  readonly reasons: { readonly [key in Reason]: Message }
}

/**
 * What {@link Words} has a message for.
 *
 * @category models
 */
export type MessageKey = keyof typeof english.messages

/**
 * Why a file failed or was refused, as far as it makes a difference to a visitor.
 *
 * @category models
 */
export type Reason = keyof typeof english.reasons
