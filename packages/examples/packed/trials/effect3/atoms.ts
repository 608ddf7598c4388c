import { Atom } from "@effect-atom/atom"
import { BlobSource, BrowserStevedore } from "@stevedore/browser"
import { Lists, UploadProgress, Uploads } from "@stevedore/core"
import { Effect, Stream } from "effect"

const runtime = Atom.runtime(BrowserStevedore.layer({ baseUrl: "/api" }))

// a list: writing to it takes the next piece
export const projects = runtime.pull(Lists.projects())

// an upload: writing a file to it starts one, and another file ends it
export const upload = runtime.fn((file: File) =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const handle = yield* Uploads.start(yield* BlobSource.fromFile(file))
    return Stream.map(
      Uploads.progressEvery(handle, "1 second"),
      UploadProgress.describe
    )
  }))
)
