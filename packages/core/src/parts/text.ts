/** Text that came from elsewhere, as it may be printed. */
export {
  /**
   * A text of JSON in which each character that is not safe to print is escaped: it stands for the same value as before.
   */
  escaped,
  /**
   * A text in quotes, with what is not safe to print escaped as in JSON: a name in a message.
   */
  quoted,
  /**
   * The text with `U+FFFD` in place of each character that is not safe to print: control characters, line breaks and tabs
   * among them, and characters that are invisible. The messages of all errors are safe in this way.
   */
  replaced as printable
} from "../base/text.js"
