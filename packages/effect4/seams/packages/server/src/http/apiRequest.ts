import * as SchemaIssue from "effect/SchemaIssue"

const CompleteBody = ({ completeEtag, completePartNumber, completeParts }: Names) =>
  Schema.Struct({
    uploadId: Schema.NonEmptyString,
    parts: Schema.Array(
      Schema.Struct({ partNumber: Schema.Int.check(Schema.isGreaterThan(0)), etag: Schema.NonEmptyString }).pipe(
        Schema.encodeKeys({ partNumber: completePartNumber, etag: completeEtag })
      )
    ).check(Schema.isMinLength(1), Schema.isMaxLength(10_000))
  }).pipe(Schema.encodeKeys({ uploadId: "upload_id", parts: completeParts }))

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const issuesOf = Option.liftThrowable((error: Schema.SchemaError) =>
  format(error.issue).issues.map(({ message, path = [] }) => ({
    message,
    path: path.map((one) => typeof one === "object" ? one.key : one)
  }))
)
