/** What an application wants to know of an upload when it is done, such as the album that a photo belongs to. */
import * as Schema from "effect/Schema"

/**
 * Names and values that travel with an upload. At most 32 names; a name has 1 to 64 letters, digits, underscores, dots
 * or hyphens, and begins with a letter or a digit; a value is text without control characters; together they take at
 * most 2048 bytes in UTF-8, as much as object storage allows an object's own metadata.
 *
 * @category models
 */
export type Metadata = Readonly<Record<string, string>>

/**
 * What metadata has to be, in words.
 *
 * @internal
 */
export const expected =
  "at most 32 names (letters, digits, _ . -; at most 64) with text (no control characters), 2048 bytes together"

const isEntry = ([name, value]: readonly [string, unknown]): boolean =>
  // a lone surrogate has no form in UTF-8
  /^[a-z\d][\w.-]{0,63}$/i.test(name) && typeof value === "string" && !/[\p{Cc}\p{Cs}]/u.test(value)

/**
 * Whether metadata is within the bounds.
 *
 * @example
 * import { Metadata } from "@stevedore/core"
 *
 * Metadata.isValid({ album: "Rotterdam 2026" }) // true
 * Metadata.isValid({ "an album": "Rotterdam" }) // false
 *
 * @internal
 */
export const isValid = (metadata: Metadata): boolean => {
  const entries = Object.entries(metadata)
  return entries.length <= 32 && entries.every(isEntry) &&
    new TextEncoder().encode(entries.flat().join("")).length <= 2048
}

/**
 * Metadata, checked.
 *
 * @category models
 */
export const Metadata: Schema.Schema<Metadata> = /* #__PURE__ */ Schema.Record({
  key: Schema.String,
  value: Schema.String
}).pipe(
  /* #__PURE__ */ Schema.filter((metadata) => isValid(metadata) || `expected ${expected}`, {
    arbitrary: () => (fc) => fc.dictionary(fc.stringMatching(/^[a-z\d][\w.-]{0,9}$/), fc.stringMatching(/^[ -~]{0,9}$/))
  })
)
