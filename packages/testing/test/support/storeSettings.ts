import { Schema } from "effect"
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const Settings = Schema.parseJson(Schema.Struct({
  endpoint: Schema.String,
  region: Schema.String,
  accessKeyId: Schema.String,
  secretAccessKey: Schema.Redacted(Schema.String),
  kmsKeyId: Schema.String
}))

const script = fileURLToPath(new URL("../../real-storage/object-store", import.meta.url))

/** How the store is reached that `object-store start` started. */
export const settings = Schema.decodeSync(Settings)(execFileSync(script, ["settings"], { encoding: "utf8" }))

const { accessKeyId, kmsKeyId, region, secretAccessKey } = settings

export const credential = { accessKeyId, secretAccessKey, region }

/** What the store wants with a single PUT, to encrypt it: it signs the key's id too. */
export const encryptionHeaders = {
  "x-amz-server-side-encryption": "aws:kms",
  "x-amz-server-side-encryption-aws-kms-key-id": kmsKeyId
}
