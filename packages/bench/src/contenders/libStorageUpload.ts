/** `<origin> <file>`: an upload by @aws-sdk/lib-storage with its defaults. */
import { S3Client } from "@aws-sdk/client-s3"
import { Upload } from "@aws-sdk/lib-storage"
import { createReadStream } from "node:fs"

const [endpoint = "", file = ""] = process.argv.slice(2)

const client = new S3Client({
  endpoint,
  forcePathStyle: true,
  region: "us-east-1",
  credentials: { accessKeyId: "loopback", secretAccessKey: "loopback" }
})
await new Upload({ client, params: { Bucket: "bucket", Key: "key", Body: createReadStream(file) } }).done()
process.exit(0)
