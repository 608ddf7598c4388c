// What cameras, phones and editors write, and a browser may have no type for: which it has depends on its system
const types: Readonly<Record<string, string>> = {
  "3gp": "video/3gpp",
  aac: "audio/aac",
  avif: "image/avif",
  dng: "image/x-adobe-dng",
  flac: "audio/flac",
  heic: "image/heic",
  heif: "image/heif",
  jxl: "image/jxl",
  m2ts: "video/mp2t",
  m4a: "audio/mp4",
  mkv: "video/x-matroska",
  mov: "video/quicktime",
  mts: "video/mp2t",
  opus: "audio/ogg"
}

export const unknownType = "application/octet-stream"

/** The type that the browser has for a file, or else that of the name's extension. */
export const typeOf = ({ name, type }: { readonly name: string; readonly type: string }): string => {
  if (type !== "" && type !== unknownType) return type
  const extension = /\.([^./\\]+)$/.exec(name)?.[1]?.toLowerCase() ?? ""
  return Object.hasOwn(types, extension) ? types[extension] ?? unknownType : unknownType
}
