/** The characters that a message shows of one text from elsewhere. */
export const longestShown = 300

/**
 * Makes text from elsewhere safe in a message that may be printed: a terminal obeys control characters, and those that
 * change the writing direction hide the text beside them; a text without end would hide the rest of the message. The
 * field of the error keeps the text as received.
 *
 * @internal
 */
export const printable = (text: string, longest = longestShown): string =>
  (text.length > longest ? `${text.slice(0, longest)}\u2026` : text).replace(/[\p{Cc}\p{Bidi_C}]/gu, "\ufffd")
