/**
 * What somebody else wrote, in a message that may be printed: a terminal obeys control characters, and those that turn the
 * direction of writing hide what stands beside them. The error's own field has it as it came.
 *
 * @internal
 */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Bidi_C}]/gu, "\ufffd")
