import { RetryPolicy, ServiceProfile, Uploads, type UploadSource } from "@stevedore/core"
import { NodeStevedore } from "@stevedore/node"
import { Config, Effect, Layer } from "effect"

/** Another service with the same protocol: storage also signs the key's id, and a download returns a link. */
export const profile = ServiceProfile.extend(ServiceProfile.standard, {
  encryptionHeaders: {
    "x-amz-server-side-encryption": "aws:kms",
    "x-amz-server-side-encryption-aws-kms-key-id": "key-1"
  },
  download: "link"
})

export const Live = NodeStevedore.layerConfig({
  baseUrl: Config.string("ARCHIVE_URL"),
  token: Config.redacted("ARCHIVE_TOKEN"),
  profile: Config.succeed(profile)
}).pipe(Layer.provide(RetryPolicy.layer({ attempts: 8, base: "250 millis", cap: "20 seconds" })))

/** No retries for this one call. */
export const once = (source: UploadSource) => Uploads.upload(source).pipe(Effect.provide(RetryPolicy.none))
