import { UploadProgress, Uploads, type UploadSource } from "@stevedore/core"
import { Console, Effect, Stream } from "effect"

export const watched = (source: UploadSource) =>
  Effect.scoped(Effect.gen(function*() {
    const upload = yield* Uploads.start(source, { concurrency: 8 })
    // the latest each second, and the last: it ends with the upload
    yield* Stream.runForEach(
      Uploads.progressEvery(upload, "1 second"),
      (now) => Console.log(UploadProgress.describe(now))
    )
    return yield* upload.await
  }))

// a timeout cancels the upload: every request is stopped and its socket closed
export const bounded = (source: UploadSource) => watched(source).pipe(Effect.timeout("2 hours"))
