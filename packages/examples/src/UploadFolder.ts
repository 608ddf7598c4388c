import { Uploads } from "@stevedore/core"
import { FileSource } from "@stevedore/node"
import { Effect, Stream } from "effect"

/** Uploads every file of a directory and returns how many failed: one bad file does not stop the others. */
export const folder = (directory: string) =>
  FileSource.fromDirectory(directory).pipe(
    Uploads.uploadAll(),
    Stream.tap((outcome) =>
      outcome._tag === "Failed"
        ? Effect.logWarning(`${outcome.source.name}: ${outcome.error._tag}`)
        : Effect.logInfo(outcome.file.id)
    ),
    Stream.filter((outcome) => outcome._tag === "Failed"),
    Stream.runCount
  )
