import { S3Client } from "@aws-sdk/client-s3"
import { Upload } from "@aws-sdk/lib-storage"

export const upload = (file: File) =>
  new Upload({ client: new S3Client({ region: "us-east-1" }), params: { Bucket: "bucket", Key: "key", Body: file } })
    .done()
