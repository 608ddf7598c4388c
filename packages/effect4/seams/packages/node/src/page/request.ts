import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

const standard = SchemaIssue.makeFormatterStandardSchemaV1()

const problemsOf = Option.liftThrowable(({ issue }: Schema.SchemaError): ReadonlyArray<Problem> =>
  standard(issue).issues.map(({ message, path = [] }) => ({
    message,
    path: path.map((one) => typeof one === "object" ? one.key : one)
  }))
)

const sentInstead = /, got [^]*$/
