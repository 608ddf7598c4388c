import * as Arr from "effect/Array"
import type * as ParseResult from "effect/ParseResult"

/**
 * Where decoding failed first, and how, in words that never repeat a value: it may be a signed URL or somebody's data.
 */
export const decodeProblem = (
  error: ParseResult.ParseError,
  at = ""
): { readonly path: string; readonly problem: string } => {
  const [{ issue, path }] = leavesOf(error.issue)
  return {
    path: showPath(at, path).slice(0, longestPath),
    problem: problems[issue._tag] ?? "a value of the wrong type"
  }
}

/** A record may have a name of any length. */
const longestPath = 300

/** What is wrong at one place. */
export interface Leaf {
  readonly path: ReadonlyArray<PropertyKey>
  readonly issue: ParseResult.ParseIssue
}

/**
 * All problems, place by place. Effect's formatters also show the value, which throws on deeply nested JSON and on
 * objects that cannot be printed, and they add half a KiB to a page.
 */
export const leavesOf = (
  issue: ParseResult.ParseIssue,
  path: Leaf["path"] = []
): Arr.NonEmptyReadonlyArray<Leaf> => {
  if (issue._tag === "Pointer") return leavesOf(issue.issue, path.concat(issue.path))
  if (issue._tag === "Composite") {
    return Arr.flatMap("_tag" in issue.issues ? [issue.issues] : issue.issues, (one) => leavesOf(one, path))
  }
  return "issue" in issue && issue.kind !== "Predicate" ? leavesOf(issue.issue, path) : [{ path, issue }]
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
