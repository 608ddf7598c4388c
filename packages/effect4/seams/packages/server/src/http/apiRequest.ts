import * as SchemaIssue from "effect/SchemaIssue"

const CompleteBody = ({ completeParts }: Names) =>
  Schema.Struct({
    uploadId: Schema.NonEmptyString,
    parts: Schema.Array(Schema.Unknown).check(Schema.isMinLength(1))
  }).pipe(Schema.encodeKeys({ uploadId: "upload_id", parts: completeParts }))

const Part = ({ completeEtag, completePartNumber }: Names) =>
  Schema.Struct({ partNumber: Schema.Int.check(Schema.isGreaterThan(0)), etag: Schema.NonEmptyString }).pipe(
    Schema.encodeKeys({ partNumber: completePartNumber, etag: completeEtag })
  )

const placed = (path: readonly [string, number], _: unknown, { issue }: Schema.SchemaError) =>
  new Schema.SchemaError(new SchemaIssue.Pointer(path, issue))

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const issuesOf = Option.liftThrowable((error: Schema.SchemaError) =>
  format(error.issue).issues.map(({ message, path = [] }) => ({
    message,
    path: path.map((one) => typeof one === "object" ? one.key : one)
  }))
)
