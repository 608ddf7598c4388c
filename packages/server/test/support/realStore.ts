import { FetchHttpClient } from "@effect/platform"
import { Effect, Layer, Redacted } from "effect"
import { credential, encryptionHeaders, settings } from "../../../testing/test/support/storeSettings.js"
import * as S3Bucket from "../../src/S3Bucket.js"
import * as S3FileStore from "../../src/S3FileStore.js"

export { credential, encryptionHeaders, settings }

/** The real store, in a bucket of this name. */
export const options = (bucket: string): S3FileStore.Options => ({
  endpoint: settings.endpoint,
  bucket,
  credential,
  encryptionHeaders
})

export const secret = Redacted.value(credential.secretAccessKey)

/** Sends one call of the store that the port has no name for. */
export const send = (
  bucket: string,
  call: Parameters<Effect.Effect.Success<ReturnType<typeof S3FileStore.calls>>["send"]>[0]
) =>
  Effect.flatMap(S3FileStore.calls(options(bucket)), (calls) => calls.send(call)).pipe(
    Effect.provide(FetchHttpClient.layer)
  )

/** Turns on versions. */
export const versioned = (bucket: string) =>
  send(bucket, {
    method: "PUT",
    query: { versioning: "" },
    headers: { "content-type": "application/xml" },
    body:
      "<VersioningConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Status>Enabled</Status></VersioningConfiguration>"
  })

/** The store as files are kept in it. The bucket is created. */
export const store = (bucket: string, more: Partial<S3FileStore.Options> = {}, protection?: S3FileStore.Protection) =>
  Layer.unwrapEffect(
    Effect.as(S3Bucket.create(options(bucket)), S3FileStore.layer({ ...options(bucket), ...more }, protection))
  ).pipe(Layer.provide(FetchHttpClient.layer))

/** The store in a bucket with versions. */
export const versionedStore = (bucket: string) =>
  Layer.unwrapEffect(
    S3Bucket.create(options(bucket)).pipe(
      Effect.zipRight(versioned(bucket)),
      Effect.as(S3FileStore.layer(options(bucket)))
    )
  ).pipe(Layer.provide(FetchHttpClient.layer))
