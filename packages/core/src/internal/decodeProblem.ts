import * as ParseResult from "effect/ParseResult"

/**
 * Where decoding failed first, and how: in words that never repeat a value, which may be a signed URL or somebody's
 * data.
 *
 * @internal
 */
export const decodeProblem = (
  error: ParseResult.ParseError,
  at = ""
): { readonly path: string; readonly problem: string } => {
  const [first] = ParseResult.ArrayFormatter.formatErrorSync(error)
  return { path: showPath(at, first?.path ?? []), problem: problems[first?._tag ?? ""] ?? "another type of value" }
}

const showPath = (at: string, path: ReadonlyArray<PropertyKey>): string =>
  path.reduce<string>(
    (shown, key) =>
      typeof key === "number" ? `${shown}[${key}]` : shown === "" ? String(key) : `${shown}.${String(key)}`,
    at
  )

const problems: Readonly<Record<string, string>> = {
  Missing: "a field is missing",
  Unexpected: "an unexpected field"
}
