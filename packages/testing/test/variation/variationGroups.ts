import * as Schema from "effect/Schema"

/** The response that opens a session: 201, `upload_url`, or `upload_id` and `urls`. Everything else is open. */
export const Session = Schema.Struct({
  /** Whether single resources, and so sessions, are wrapped in `data`. */
  envelope: Schema.Literal("data", "none"),
  /** What the ids of files look like. A number is a JSON number in responses. */
  ids: Schema.Literal("base62", "uuid", "digits", "number", "leading dash", "reserved characters"),
  /** What `upload_id`, which is opaque, looks like. */
  uploadIds: Schema.Literal("base62", "symbols", "digits", "4000 characters"),
  /** The elements of `urls`. */
  urls: Schema.Literal("strings", "objects", "objects in any order", "objects without numbers"),
  /** How many URLs a session has, whatever number the client asks for. Never more than the file has bytes. */
  parts: Schema.Literal("wished", "one", "one fewer", "one more", "seven", "twice", "twelve")
})

/** The responses to both Complete calls. Any 2xx with any body. */
export const Completion = Schema.Struct({
  status: Schema.Literal(200, 201, 202, 203, 204, 206, 207, 226, 299),
  body: Schema.Literal(
    "record",
    "part of a record",
    "only an id",
    "empty object",
    "empty data",
    "null data",
    "null",
    "array",
    "number",
    "string",
    "text",
    "HTML",
    "broken JSON",
    "nothing",
    "done",
    "nulls",
    "other types",
    "deeply nested"
  ),
  /** What a Complete of a file that is finalized already is answered with. */
  repeated: Schema.Literal("as before", "200", "204", "400", "404", "409", "410", "422"),
  /** How long the file's `status` is `pending`, in seconds. */
  pendingSeconds: Schema.Literal(0, 0, 5, 3600)
})

/** Records, of a file and of lists. */
export const Records = Schema.Struct({
  file: Schema.Literal(
    "usual",
    "only an id",
    "no fields",
    "nulls",
    "other types",
    "other status",
    "huge numbers",
    "deeply nested"
  ),
  items: Schema.Literal(
    "usual",
    "only an id",
    "no fields",
    "nulls",
    "other types",
    "numeric ids",
    "huge numbers",
    "deeply nested"
  ),
  /** How many fields that nobody expects are added to each object, of every type and with odd names. */
  extraFields: Schema.Literal(0, 1, 5),
  fieldOrder: Schema.Literal("usual", "reversed", "by chance")
})

/** Storage: the dialect of its URLs, and how it answers. */
export const Storage = Schema.Struct({
  /** What a URL says of itself. The last two say nothing that can be read. */
  urls: Schema.Literal("SigV4", "SigV2", "CloudFront", "Azure", "token in the query", "token in the path"),
  /** How long the URL of a single PUT is valid, which the interface does not say. */
  singleMinutes: Schema.Int.pipe(Schema.between(10, 600)),
  /** How long the URLs of parts are valid: about 3 hours. */
  partMinutes: Schema.Int.pipe(Schema.between(170, 190)),
  etags: Schema.Literal("quoted", "unquoted", "weak", "with a hyphen", "short", "long", "symbols"),
  /** The status of a successful PUT. */
  status: Schema.Literal(200, 201, 204),
  body: Schema.Literal("nothing", "text", "XML"),
  /** Whether responses repeat the encryption headers. */
  repeatsEncryption: Schema.Boolean,
  /** Whether a part's URL signs the encryption headers, too. Only where a URL says what it signs. */
  signsPartEncryption: Schema.Boolean,
  date: Schema.Literal("right", "absent", "hours ahead", "hours behind", "unreadable")
})

/** The response to a download. */
export const Download = Schema.Struct({
  /** How many redirects lead to the content; none if the service sends it itself. */
  redirects: Schema.Literal(0, 0, 1, 3),
  redirectStatus: Schema.Literal(301, 302, 303, 307, 308),
  /** Whether redirects name a path only, where they stay on their origin. */
  relative: Schema.Boolean,
  length: Schema.Literal("declared", "unknown"),
  ranges: Schema.Literal("supported", "ignored"),
  validator: Schema.Literal("etag", "weak etag", "date", "none"),
  mediaType: Schema.Literal("declared", "application/octet-stream", "application/json", "none")
})

/** The pages of a list. */
export const Lists = Schema.Struct({
  items: Schema.Int.pipe(Schema.between(0, 9)),
  /** The most items in a page, whatever is asked for. */
  largestPage: Schema.Literal(100, 8, 5, 2),
  /** Whether a page without items precedes every page that has some. */
  emptyPages: Schema.Boolean,
  /** How a walk ends: what the last page has for `next_cursor`, or a page without items. */
  end: Schema.Literal("null", "absent", "empty page, null", "empty page, absent"),
  /** Whether a list of one page has `next_cursor` nonetheless, as null. */
  nullOnOnePage: Schema.Boolean,
  hasMore: Schema.Literal("right", "absent", "null"),
  totals: Schema.Literal("right", "absent", "null", "zero", "changing", "huge"),
  cursors: Schema.Literal("base64", "symbols", "digits", "2000 characters", "JSON")
})

/** How every response of the service is sent. */
export const Answers = Schema.Struct({
  mediaType: Schema.Literal(
    "application/json",
    "application/json; charset=utf-8",
    "Application/JSON;Charset=\"UTF-8\"",
    "application/vnd.api+json",
    "text/plain",
    "text/html; charset=iso-8859-1",
    "application/octet-stream",
    "none"
  ),
  byteOrderMark: Schema.Boolean,
  /** The content coding, although none is asked for. */
  coding: Schema.Literal("none", "none", "gzip", "deflate"),
  length: Schema.Literal("declared", "unknown"),
  /** Whether a response comes in small pieces, with pauses. */
  drips: Schema.Boolean,
  connection: Schema.Literal("kept", "closed"),
  date: Schema.Literal("right", "absent", "hours ahead", "hours behind", "unreadable"),
  rateLimit: Schema.Literal("none", "X-RateLimit", "RateLimit", "RateLimit-Policy", "unreadable"),
  /** How a request is refused. */
  refusals: Schema.Literal("errors", "HTML", "text", "nothing", "problem", "error", "array", "named field")
})

/** Names that the interface leaves open. The first of each is the standard profile's. A dot leads into an object. */
export const Names = Schema.Struct({
  fileName: Schema.Literal("name", "filename", "file_name", "title", "displayName"),
  mediaType: Schema.Literal("type", "content_type", "mimeType", "media-type"),
  size: Schema.Literal("size", "bytes", "file_size", "contentLength"),
  parts: Schema.Literal("parts", "part_count", "numParts"),
  fileId: Schema.Literal("id", "file_id", "fileId", "uuid", "file.uid", "meta.file.id"),
  partUrl: Schema.Literal("url", "href", "signedUrl", "target.href"),
  partNumber: Schema.Literal("part_number", "partNumber", "number"),
  completeParts: Schema.Literal("parts", "etags", "completedParts"),
  completePartNumber: Schema.Literal("part_number", "PartNumber", "number"),
  completeEtag: Schema.Literal("etag", "ETag", "e_tag"),
  downloadUrl: Schema.Literal("url", "download_url", "href", "link.signed.url")
})

/** What only a profile can tell a client. */
export const Open = Schema.Struct({
  names: Names,
  paths: Schema.Literal("standard", "other"),
  /** `x-<storage>-server-side-encryption: <storage>:kms`. */
  storage: Schema.Literal("amz", "goog", "acme"),
  download: Schema.Literal("content", "link"),
  /** What Complete upload must have for a body; with anything else it is refused. */
  completeBody: Schema.Literal("none", "none", "empty", "named")
})
