/**
 * Text that a terminal shows and does not obey. Names of files and everything from the service may hold escape
 * sequences.
 *
 * @since 0.1.0
 */

// C0 and C1 controls, and the marks that turn the direction of writing
const unsafe = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

const replace = (text: string): string => text.replace(unsafe, "\ufffd")

/**
 * One line of text in which nothing is a command to the terminal: each control character but the tab becomes
 * `\uFFFD`.
 *
 * @since 0.1.0
 * @category formatting
 */
export const line = (text: string): string => text.split("\t").map(replace).join("\t")

/**
 * A line of columns with a tab between them, for `cut` and `awk`: no column holds one itself.
 *
 * @since 0.1.0
 * @category formatting
 */
export const columns = (texts: ReadonlyArray<string>): string => texts.map(replace).join("\t")

/**
 * A value as one line of JSON. Control characters are escaped, so nothing of the value is lost.
 *
 * @since 0.1.0
 * @category formatting
 */
export const json = (value: unknown): string =>
  (JSON.stringify(value) ?? "null").replace(
    unsafe,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  )
