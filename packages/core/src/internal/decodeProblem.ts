import * as Arr from "effect/Array"
import type * as ParseResult from "effect/ParseResult"

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
  const { path, tag } = firstOf(error.issue, [])
  return { path: showPath(at, path), problem: problems[tag] ?? "another type of value" }
}

// Effect's formatters show the value too, which throws on JSON of a great depth and on objects that cannot be shown.
const firstOf = (
  issue: ParseResult.ParseIssue,
  path: ReadonlyArray<PropertyKey>
): { readonly path: ReadonlyArray<PropertyKey>; readonly tag: string } => {
  if ("issues" in issue) return firstOf("_tag" in issue.issues ? issue.issues : issue.issues[0], path)
  if ("issue" in issue) return firstOf(issue.issue, "path" in issue ? [...path, ...Arr.ensure(issue.path)] : path)
  return { path, tag: issue._tag }
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
