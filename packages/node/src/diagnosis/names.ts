/** What services call the fields that the interface leaves open, beside the names that their own answers give. */
import type { ServiceProfile } from "@stevedore/core/ServiceProfile"

export interface Slot {
  /** What the profile calls it. */
  readonly field: keyof ServiceProfile["fields"]
  /** What a name of it looks like. */
  readonly pattern: RegExp
  readonly names: ReadonlyArray<string>
}

const separated = (...words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [first = "", ...rest] = words
  const camel = first + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("")
  return [
    ...new Set([
      words.join("_"),
      camel,
      words.join("-"),
      camel.charAt(0).toUpperCase() + camel.slice(1),
      words.join("")
    ])
  ]
}

export const fileName: Slot = {
  field: "fileName",
  pattern: /name|title|label/i,
  names: [
    "name",
    "filename",
    ...separated("file", "name"),
    "title",
    ...separated("display", "name"),
    ...separated("original", "name"),
    "label"
  ]
}

export const mediaType: Slot = {
  field: "mediaType",
  pattern: /type|mime|media/i,
  names: ["type", ...separated("content", "type"), ...separated("mime", "type"), ...separated("media", "type"), "mime"]
}

export const size: Slot = {
  field: "size",
  pattern: /size|bytes|length/i,
  names: [
    "size",
    "bytes",
    ...separated("file", "size"),
    ...separated("content", "length"),
    "length",
    ...separated("size", "bytes"),
    ...separated("byte", "size"),
    ...separated("total", "size")
  ]
}

export const parts: Slot = {
  field: "parts",
  pattern: /parts?|chunks?|segments?/i,
  names: [
    "parts",
    ...separated("part", "count"),
    ...separated("num", "parts"),
    ...separated("number", "of", "parts"),
    ...separated("desired", "parts"),
    "chunks"
  ]
}

export const completeParts: Slot = {
  field: "completeParts",
  pattern: /parts|etags|chunks/i,
  names: ["parts", "etags", ...separated("completed", "parts"), ...separated("uploaded", "parts"), "Parts"]
}

export const completePartNumber: Slot = {
  field: "completePartNumber",
  pattern: /number|index|position/i,
  names: [...separated("part", "number"), "number", "part", "index"]
}

export const completeEtag: Slot = {
  field: "completeEtag",
  pattern: /e.?tag|hash/i,
  names: ["etag", "ETag", "e_tag", "eTag", "Etag", "e-tag", "hash"]
}

/** The paths of the calls that open a session, beside those that the service's answers lead to. */
export const initiatePaths = ["/v2/uploads", "/v2/upload", "/v1/files/upload", "/v1/uploads", "/v1/upload", "/uploads"]

export const initiateLargePaths = [
  "/v2/large-uploads",
  "/v2/multipart-uploads",
  "/v2/uploads/large",
  "/v2/uploads/multipart",
  "/v2/files/multipart-upload",
  "/v1/files/large-upload",
  "/v1/large-uploads"
]

/** What of a file a field of this name stands for, in the body of Complete upload. */
export const placeholderOf = (name: string): string | undefined => {
  if (completeEtag.pattern.test(name)) return "{etag}"
  if (size.pattern.test(name)) return "{size}"
  if (mediaType.pattern.test(name)) return "{type}"
  if (/id$/i.test(name)) return "{file_id}"
  return fileName.pattern.test(name) ? "{name}" : undefined
}
