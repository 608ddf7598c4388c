import { brotliDecompressSync } from "node:zlib"

interface Coded {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/**
 * A response without the content coding `br`, which the platform's decoder does not know everywhere. What does not come
 * out of it, or is longer than `longest` bytes, stays as it is.
 */
export const withoutBrotli = <A extends Coded>(answer: A, longest: number): A => {
  const codings = (answer.headers["content-encoding"] ?? "").split(",")
  if (codings.at(-1)?.trim().toLowerCase() !== "br" || answer.body.byteLength === 0) return answer
  try {
    return {
      ...answer,
      headers: { ...answer.headers, "content-encoding": codings.slice(0, -1).join(",") },
      body: brotliDecompressSync(answer.body, { maxOutputLength: longest })
    }
  } catch {
    return answer
  }
}
