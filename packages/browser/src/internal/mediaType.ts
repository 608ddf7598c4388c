// What cameras, phones and editors write, and a browser may have no type for: which it has depends on its system
const types: Readonly<Record<string, string>> = {
  "3gp": "video/3gpp",
  aac: "audio/aac",
  avif: "image/avif",
  cr2: "image/x-canon-cr2",
  cr3: "image/x-canon-cr3",
  csv: "text/csv",
  dng: "image/x-adobe-dng",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  flac: "audio/flac",
  heic: "image/heic",
  heics: "image/heic-sequence",
  heif: "image/heif",
  jxl: "image/jxl",
  m2ts: "video/mp2t",
  m4a: "audio/mp4",
  m4v: "video/x-m4v",
  md: "text/markdown",
  mkv: "video/x-matroska",
  mov: "video/quicktime",
  mp4: "video/mp4",
  mts: "video/mp2t",
  nef: "image/x-nikon-nef",
  oga: "audio/ogg",
  opus: "audio/ogg",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  srt: "application/x-subrip",
  tif: "image/tiff",
  tiff: "image/tiff",
  vtt: "text/vtt",
  wav: "audio/wav",
  webm: "video/webm",
  webp: "image/webp",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
}

export const unknownType = "application/octet-stream"

/** The type that the browser has for a file, or else that of the name's extension. */
export const typeOf = ({ name, type }: { readonly name: string; readonly type: string }): string => {
  if (type !== "" && type !== unknownType) return type
  const extension = /\.([^./\\]+)$/.exec(name)?.[1]?.toLowerCase() ?? ""
  return Object.hasOwn(types, extension) ? types[extension] ?? unknownType : unknownType
}
