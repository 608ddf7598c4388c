/** Calls of the AWS SDK as effects that fail as storage does. */
import type { $Command, S3ClientResolvedConfig, ServiceInputTypes, ServiceOutputTypes } from "@aws-sdk/client-s3"
import { S3ServiceException } from "@aws-sdk/client-s3"
import { HttpRequest } from "@smithy/protocol-http"
import * as StorageRefused from "@stevedore/server/StorageRefused"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"

/** A command of the S3 client. */
export type S3Command<Input extends ServiceInputTypes, Output extends ServiceOutputTypes> = $Command<
  Input,
  Output,
  S3ClientResolvedConfig,
  ServiceInputTypes,
  ServiceOutputTypes
>

// the SDK's name for a response to HEAD, which has no body to carry the code
const codes: Readonly<Record<string, string>> = { NotFound: "NoSuchKey" }

/** What went wrong, without the request, which contains the signature. */
export const refusalOf = (error: unknown): StorageRefused.StorageRefused => {
  if (error instanceof S3ServiceException) {
    const status = error.$metadata.httpStatusCode ?? 500
    const known = StorageRefused.fromStatus(status, codes[error.name] ?? error.name)
    return error.message === "" || error.message === "UnknownError"
      ? known
      : new StorageRefused.StorageRefused({ status, code: known.code, reason: error.message, details: {} })
  }
  const code = Predicate.hasProperty(error, "code") && Predicate.isString(error.code)
    ? error.code
    : "unknown reason"
  return StorageRefused.make("ServiceUnavailable", { reason: `The store cannot be reached (${code})` })
}

/** A call that is aborted when it is interrupted. */
export const call = <A>(
  send: (abortSignal: AbortSignal) => Promise<A>
): Effect.Effect<A, StorageRefused.StorageRefused> => Effect.tryPromise({ try: send, catch: refusalOf })

/** A value that a response must have. */
export const required = <A>(
  value: A | undefined,
  name: string
): Effect.Effect<A, StorageRefused.StorageRefused> =>
  value === undefined
    ? StorageRefused.make("InternalError", { reason: `The store's answer has no ${name}` })
    : Effect.succeed(value)

/** The command with additional headers, including ones that the SDK has no name for. */
export const withHeaders = <Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
  command: S3Command<Input, Output>,
  headers: Readonly<Record<string, string>>
): S3Command<Input, Output> => {
  command.middlewareStack.add((next) => (args) => {
    if (HttpRequest.isInstance(args.request)) {
      Object.assign(args.request.headers, headers)
    }
    return next(args)
  }, { step: "build", name: "stevedoreHeaders" })
  return command
}
