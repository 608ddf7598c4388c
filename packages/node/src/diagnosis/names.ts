/** What services call what a body tells, beside the names that their own answers give. */
import type { ServiceProfile } from "@stevedore/core/ServiceProfile"

/** The calls that have a body. */
export type Call = "initiateUpload" | "initiateLargeUpload" | "completeUpload" | "completeLargeUpload"

/** Something that a body tells. */
export interface Kind {
  /** What stands for it in a template. */
  readonly value: string
  /** The profile's entry for its name; undefined if it has none. */
  readonly field: keyof ServiceProfile["fields"] | undefined
  /** What a name of it looks like. */
  readonly pattern: RegExp
  readonly names: ReadonlyArray<string>
}

const spelt = (name: string): ReadonlyArray<string> => {
  const words = name.split("_")
  const camel = words.map((word, index) => index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)).join("")
  const others = [words.join("-"), camel.charAt(0).toUpperCase() + camel.slice(1), words.join("")]
  return words.length === 1 ? words : [name, camel, ...others]
}

/** Names of several words stand for all their spellings. */
const kind = (value: string, field: Kind["field"], pattern: RegExp, names: string): Kind => ({
  value,
  field,
  pattern,
  names: [...new Set(names.split(" ").flatMap(spelt))]
})

export const fileName = kind(
  "{name}",
  "fileName",
  /name|title|label/i,
  "name filename file_name title display_name original_name label"
)

export const mediaType = kind("{type}", "mediaType", /type|mime|media/i, "type content_type mime_type media_type mime")

export const size = kind(
  "{size}",
  "size",
  /size|bytes|length|byte.?count/i,
  "size bytes file_size content_length length size_bytes byte_size total_size"
)

export const parts = kind(
  "{parts}",
  "parts",
  /parts?|chunks?|segments?/i,
  "parts part_count num_parts number_of_parts desired_parts chunks"
)

/** The list of the parts. */
export const list = kind(
  "list",
  "completeParts",
  /parts|etags|chunks|segments|blocks/i,
  "parts etags completed_parts uploaded_parts Parts"
)

export const partNumber = kind(
  "{part_number}",
  "completePartNumber",
  /number|index|position|^part$|^no$/i,
  "part_number number part index"
)

export const etag = kind("{etag}", "completeEtag", /e.?tag|hash/i, "etag ETag e_tag eTag Etag e-tag hash")

const uploadId = kind("{upload_id}", undefined, /upload|session|multipart/i, "upload_id")

const fileId = kind("{file_id}", undefined, /id$/i, "file_id")

/** What the body of a call tells; of two that a name looks like, the first. */
export const kinds: Readonly<Record<Call, ReadonlyArray<Kind>>> = {
  initiateUpload: [fileName, mediaType, size],
  initiateLargeUpload: [fileName, mediaType, size, parts],
  completeUpload: [etag, size, mediaType, fileId, fileName],
  completeLargeUpload: [list, uploadId, fileId, partNumber, etag]
}

/** The paths of the calls that open a session, beside those that the service's answers lead to. */
export const paths: Readonly<Record<"initiateUpload" | "initiateLargeUpload", ReadonlyArray<string>>> = {
  initiateUpload: ["/v2/uploads", "/v2/upload", "/v1/files/upload", "/v1/uploads", "/v1/upload", "/uploads"],
  initiateLargeUpload: [
    "/v2/large-uploads",
    "/v2/multipart-uploads",
    "/v2/uploads/large",
    "/v2/uploads/multipart",
    "/v2/files/multipart-upload",
    "/v1/files/large-upload",
    "/v1/large-uploads"
  ]
}
