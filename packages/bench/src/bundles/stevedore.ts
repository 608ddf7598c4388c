/** An upload from a page, with everything that it needs. */
import * as BlobSource from "@stevedore/browser/BlobSource"
import * as BrowserStevedore from "@stevedore/browser/BrowserStevedore"
import * as Uploads from "@stevedore/core/Uploads"
import * as Effect from "effect/Effect"

export const upload = (file: File) =>
  Effect.flatMap(BlobSource.fromFile(file), (source) => Uploads.upload(source)).pipe(
    Effect.provide(BrowserStevedore.layer({ baseUrl: "/api" })),
    Effect.runPromise
  )
