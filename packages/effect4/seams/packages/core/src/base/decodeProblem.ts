import * as Arr from "effect/Array"
import type * as SchemaIssue from "effect/SchemaIssue"

export const leavesOf = (
  issue: SchemaIssue.Issue,
  path: Leaf["path"] = []
): Arr.NonEmptyReadonlyArray<Leaf> => {
  switch (issue._tag) {
    case "Pointer":
      return leavesOf(issue.issue, path.concat(issue.path))
    case "Encoding":
      return leavesOf(issue.issue, path)
    case "Composite":
      return Arr.flatMap(issue.issues, (one) => leavesOf(one, path))
    case "AnyOf":
      return Arr.isReadonlyArrayNonEmpty(issue.issues)
        ? Arr.flatMap(issue.issues, (one) => leavesOf(one, path))
        : [{ path, issue }]
    default:
      return [{ path, issue }]
  }
}

const problems: Readonly<Record<string, string>> = {
  MissingKey: "a field is missing",
  UnexpectedKey: "an unexpected field"
}
