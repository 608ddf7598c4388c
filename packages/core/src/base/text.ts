/** Text that came from elsewhere. */
// Control characters (C0, DEL, C1), everything invisible that formats (marks of the writing direction, zero width, tags),
// separators of lines and paragraphs, halves of surrogate pairs, and letters that show nothing
const unsafe =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\u2065\u{e0000}-\u{e0fff}]/gu

/** The text with `U+FFFD` in place of each character that is not safe to print. */
export const replaced = (text: string): string => text.replace(unsafe, "\ufffd")

/** The characters that a message shows of one text from elsewhere. */
export const longestShown = 300

/**
 * Makes text from elsewhere safe in a message that may be printed: a terminal obeys control characters, those that
 * change the writing direction hide the text beside them, what shows nothing makes two texts look the same, and a text
 * without end would hide the rest of the message. The field of the error keeps the text as received.
 */
export const printable = (text: string, longest = longestShown): string =>
  replaced(text.length > longest ? `${text.slice(0, longest)}\u2026` : text)

/** A text of JSON in which each character that is not safe to print is escaped, so that nothing is lost. */
export const escaped = (json: string): string =>
  json.replace(
    unsafe,
    (character) => character.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")
  )

/** A text in quotes, with what is not safe to print escaped as in JSON: a name in a message. */
export const quoted = (text: string): string => escaped(JSON.stringify(text))

/**
 * A hash of 53 bits, a whole number that JSON can represent exactly (cyrb53). Effect's own has 32 bits: among the
 * 10,000 cursors of a long walk, two collide once in a hundred walks; here once in a hundred million.
 */
export const textHash = (text: string): number => {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    high = Math.imul(high ^ unit, 2654435761)
    low = Math.imul(low ^ unit, 1597334677)
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
  return 4294967296 * (2097151 & low) + (high >>> 0)
}
