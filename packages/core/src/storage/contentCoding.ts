import * as Effect from "effect/Effect"
import { joined } from "./answerBytes.js"

/** The header with which bytes are asked for as they are. */
export const uncoded = { "accept-encoding": "identity" } as const

type Headers = Readonly<Record<string, string | undefined>>

// In HTTP, deflate is zlib, but some send it without its frame
const formats: Readonly<Record<string, ReadonlyArray<CompressionFormat>>> = {
  gzip: ["gzip"],
  "x-gzip": ["gzip"],
  deflate: ["deflate", "deflate-raw"]
}

const codingsOf = (headers: Headers): ReadonlyArray<string> =>
  (headers["content-encoding"] ?? "").toLowerCase().split(",").map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity")

/** The content codings of a response in words, none of which was asked for; nothing if it has none. */
export const codingIn = (headers: Headers): string | undefined => {
  const codings = codingsOf(headers)
  return codings.length === 0 ? undefined : `the content coding ${codings.join(", ")}, which was not asked for`
}

/** What to undo the codings of. */
interface Coded {
  readonly bytes: Uint8Array
  /** Whether more bytes followed, which were not kept: what comes before the break is then what there is. */
  readonly isStart: boolean
  /** No more than this, and the piece that exceeds it, comes out: a few bytes may stand for terabytes. */
  readonly longest: number
}

const inflated = async (
  { bytes, isStart, longest }: Coded,
  format: CompressionFormat
): Promise<Uint8Array | undefined> => {
  const stream = new DecompressionStream(format)
  const writer = stream.writable.getWriter()
  // what goes wrong here goes wrong for the reader too
  writer.write(new Uint8Array(bytes)).then(() => writer.close()).catch(() => undefined)
  const reader = stream.readable.getReader()
  const pieces: Array<Uint8Array> = []
  let length = 0
  try {
    while (length <= longest) {
      const { done, value } = await reader.read()
      if (done) return joined(pieces)
      pieces.push(value)
      length += value.byteLength
    }
    await reader.cancel()
    return joined(pieces)
  } catch {
    return isStart && length > 0 ? joined(pieces) : undefined
  }
}

const undone = async (coded: Coded, codings: ReadonlyArray<string>): Promise<Uint8Array | undefined> => {
  let { bytes } = coded
  for (const coding of [...codings].reverse()) {
    let plain: Uint8Array | undefined
    for (const format of formats[coding] ?? []) plain ??= await inflated({ ...coded, bytes }, format)
    if (plain === undefined) return undefined
    bytes = plain
  }
  return bytes
}

/**
 * The body of a response without its content codings. It is returned as it is if it has none, if a coding is unknown to
 * the platform, or if the transport has undone them already, as fetch does without changing the header.
 */
export const decoded = (headers: Headers, coded: Coded): Effect.Effect<Uint8Array> => {
  const codings = codingsOf(headers)
  return codings.length === 0 || coded.bytes.byteLength === 0
    ? Effect.succeed(coded.bytes)
    : Effect.promise(async () => await undone(coded, codings) ?? coded.bytes)
}
