import { Uploads, type UploadSource } from "@stevedore/core"
import { Console, Duration, Effect, Option, Schedule, Stream } from "effect"

export const watched = (source: UploadSource) =>
  Effect.scoped(Effect.gen(function*() {
    const upload = yield* Uploads.start(source, { concurrency: 8 })
    yield* upload.progress.changes.pipe(
      Stream.schedule(Schedule.spaced("1 second")),
      Stream.runForEach((now) =>
        Console.log(now.phase, now.confirmed, "of", now.size, Option.map(now.timeLeft, Duration.format))
      ),
      Effect.forkScoped
    )
    return yield* upload.await
  }))

// a timeout cancels the upload: every request is stopped and its socket closed
export const bounded = (source: UploadSource) => watched(source).pipe(Effect.timeout("2 hours"))
