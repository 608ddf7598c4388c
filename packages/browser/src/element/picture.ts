import type { Item } from "../queue/model.js"
import { icon, make } from "./dom.js"

const largestImage = 40_000_000

/** The colours of kinds of files, as hues. */
const hues: ReadonlyArray<readonly [hue: number, names: RegExp]> = [
  [280, /^image/],
  [330, /^video/],
  [25, /^audio/],
  [0, /pdf$/],
  [145, /(csv|ods|xlsx?)$/],
  [45, /(7z|gz|rar|tar|zip)$/],
  [215, /(docx?|md|odt|rtf|txt)$|^text/]
]

const paint = async (tile: HTMLElement, file: Blob): Promise<void> => {
  try {
    const bitmap = await createImageBitmap(file, { resizeWidth: 96, resizeQuality: "medium" })
    const canvas = make("canvas", { width: `${bitmap.width}`, height: `${bitmap.height}` })
    canvas.getContext("2d")?.drawImage(bitmap, 0, 0)
    bitmap.close()
    tile.replaceChildren(canvas)
  } catch {
    // not every browser can read every image: the tile keeps the type's name
  }
}

/** An image as it is, and of anything else its type, in the colour of its kind. */
export const pictureOf = ({ mediaType, name, size }: Item, file: Blob | undefined): HTMLElement => {
  const [, extension] = /\.([^./\\\s]{1,4})$/.exec(name) ?? []
  const tile = make(
    "div",
    { class: "picture", part: "picture", "aria-hidden": "true" },
    extension ?? icon("M7 3h7l4 4v14H7zM14 3v4h4")
  )
  const [hue] = hues.find(([, names]) => names.test(mediaType) || names.test(extension?.toLowerCase() ?? "")) ?? []
  if (hue !== undefined) {
    tile.classList.add("hued")
    tile.style.setProperty("--hue", `${hue}`)
  }
  const isImage = mediaType.startsWith("image/") && mediaType !== "image/svg+xml"
  if (file !== undefined && isImage && size <= largestImage) void paint(tile, file)
  return tile
}
