import { S3 } from "@effect-aws/client-s3"
import { Effect, ManagedRuntime, Predicate, Stream } from "effect"
import type { Client } from "../Client.js"
import { batches } from "../Client.js"

export const effectAws: Client = {
  open: async (origin) => {
    const managed = ManagedRuntime.make(S3.layer({
      endpoint: origin,
      forcePathStyle: true,
      region: "us-east-1",
      credentials: { accessKeyId: "loopback", secretAccessKey: "loopback" }
    }))
    const runtime = await managed.runtime()
    const pages = await managed.runPromise(
      Effect.map(S3, (s3) => s3.listObjectsV2Stream({ Bucket: "bucket", MaxKeys: 100 }))
    )
    const walk = () =>
      batches(
        Stream.toAsyncIterableRuntime(pages, runtime),
        ({ Contents = [] }) => Contents.map(({ Key = "" }) => Key)
      )
    return { [Symbol.asyncIterator]: () => walk()[Symbol.asyncIterator](), goOn: walk }
  },
  isOwnError: (error) => Predicate.hasProperty(error, "_tag")
}
