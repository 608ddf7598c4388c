/**
 * Makes text from elsewhere safe to print. File names, and everything from a service, may contain escape sequences of
 * terminals, marks that change the writing direction, and characters that show nothing.
 *
 * @since 0.1.0
 */
import * as Internal from "./internal/printable.js"

/**
 * The text with `U+FFFD` in place of each character that is not safe to print: control characters, line breaks and tabs
 * among them, and characters that are invisible. The messages of all errors are safe in this way.
 *
 * @example
 * import { Printable } from "@stevedore/core"
 *
 * Printable.replaced("gpj.\u202etxt") // "gpj.\ufffdtxt"
 *
 * @since 0.1.0
 * @category formatting
 */
export const replaced: (text: string) => string = Internal.replaced

/**
 * The same for a text of JSON, in which each such character is escaped: it stands for the same value as before.
 *
 * @since 0.1.0
 * @category formatting
 */
export const escaped: (json: string) => string = Internal.escaped

/**
 * A text in quotes, with what is not safe to print escaped as in JSON: a name in a message.
 *
 * @since 0.1.0
 * @category formatting
 */
export const quoted: (text: string) => string = Internal.quoted
