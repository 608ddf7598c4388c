/**
 * Makes text from elsewhere safe in a message that may be printed: a terminal obeys control characters, and those that
 * change the writing direction hide the text beside them. The field of the error keeps the text as received.
 *
 * @internal
 */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Bidi_C}]/gu, "\ufffd")
