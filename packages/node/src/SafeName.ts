/** Names from elsewhere, made safe as local file names. */

import * as WindowsNames from "./file/paths.js"

const longest = 255

/**
 * A file name that can be created in any directory on Linux, macOS and Windows, and that never leads out of it: no
 * separators, no device names, no leading dash or dot, no control or invisible direction characters, no trailing dot or
 * space, at most 255 bytes, with its extension kept. It is never empty: if nothing is left, it is `download`.
 *
 * The name in a record or in a Content-Disposition was written by a stranger; it is never a path.
 *
 * @example
 * import { NodeDownloads, SafeName } from "@stevedore/node"
 *
 * const saved = NodeDownloads.toFile("1kf00nQk9yfWKfsTDni8aO", SafeName.safeName("../interview.mp4"))
 *
 * @category constructors
 */
export const safeName = (name: string): string => {
  const plain = name
    .normalize("NFC")
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, "")
    .replace(WindowsNames.forbidden, "_")
    .replace(/^[\s.\-~]+/, "")
  const short = withoutEnd(shortened(plain))
  if (short === "") return "download"
  const [stem = ""] = short.split(".")
  return WindowsNames.isDevice(stem.trim()) ? `_${shortened(short, longest - 1)}` : short
}

const withoutEnd = (name: string): string => name.replace(/[\s.]+$/, "")

const bytes = (text: string): number => new TextEncoder().encode(text).byteLength

const shortened = (name: string, limit = longest): string => {
  if (bytes(name) <= limit) return name
  const extension = /\.[^.]{1,16}$/u.exec(name)?.[0] ?? ""
  const kept = bytes(extension) < limit / 2 ? extension : ""
  let stem = ""
  let left = limit - bytes(kept)
  for (const character of name.slice(0, name.length - kept.length)) {
    left -= bytes(character)
    if (left < 0) break
    stem += character
  }
  return `${withoutEnd(stem)}${kept}`
}
