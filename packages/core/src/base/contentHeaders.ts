/** A header whose value follows from the bytes that are sent with it. @internal */
export interface ContentHeader {
  /** Such as `crc32`: a name of `ChecksumAlgorithm`. */
  readonly algorithm: string
  /** The value, from the checksum in base64. */
  readonly valueOf: (checksum: string) => string
}

const hex = (base64: string): string =>
  Array.from(atob(base64), (character) => character.charCodeAt(0).toString(16).padStart(2, "0")).join("")

const asIs = (checksum: string): string => checksum

const named: Readonly<Record<string, ContentHeader>> = {
  "content-md5": { algorithm: "md5", valueOf: asIs },
  "x-amz-content-sha256": { algorithm: "sha256", valueOf: hex }
}

// These say how a checksum is made
const settings = ["type", "algorithm", "mode"]

/** What a signed header, in lower case, says of the content; nothing if its value does not depend on it. @internal */
export const contentHeader = (name: string): ContentHeader | undefined => {
  const [, algorithm] = /^x-amz-checksum-(.+)$/.exec(name) ?? []
  return algorithm === undefined
    ? Object.hasOwn(named, name) ? named[name] : undefined
    : settings.includes(algorithm)
    ? undefined
    : { algorithm, valueOf: asIs }
}
