import { paginateListObjectsV2, S3Client, S3ServiceException } from "@aws-sdk/client-s3"
import type { Client } from "../Client.js"
import { batches } from "../Client.js"

export const aws: Client = {
  open: async (origin) => {
    const client = new S3Client({
      endpoint: origin,
      forcePathStyle: true,
      region: "us-east-1",
      credentials: { accessKeyId: "loopback", secretAccessKey: "loopback" }
    })
    const pages = paginateListObjectsV2({ client }, { Bucket: "bucket", MaxKeys: 100 })
    return batches(pages, ({ Contents = [] }) => Contents.map(({ Key = "" }) => Key))
  },
  isOwnError: (error) => error instanceof S3ServiceException
}
