import type * as SchemaIssue from "effect/SchemaIssue"

const sentences: Readonly<Record<string, string>> = {
  MissingKey: "a filter is missing",
  UnexpectedKey: "this list has no such filter"
}

const wordsOf = (issue: SchemaIssue.Issue): string => {
  const words = issue._tag === "InvalidValue"
    ? issue.annotations?.["message"]
    : issue._tag === "Filter"
    ? issue.filter.annotations?.["message"]
    : undefined
  return typeof words === "string" && /^expected /.test(words) ? words : "a value of the wrong type"
}

const isTelling = ({ issue }: Leaf): boolean => issue._tag === "UnexpectedKey" || issue._tag === "Filter"
