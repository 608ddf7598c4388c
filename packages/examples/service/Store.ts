/** The object store of `npm run store`, on loopback: the one that runs, or one that ends with the scope. */
import { Data, Effect, Schema } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"

export class StoreFailed extends Data.TaggedError("StoreFailed")<{ readonly message: string }> {}

const program = fileURLToPath(new URL("../../testing/real-storage/object-store", import.meta.url))

const Settings = Schema.parseJson(Schema.Struct({
  endpoint: Schema.String,
  region: Schema.String,
  accessKeyId: Schema.String,
  secretAccessKey: Schema.Redacted(Schema.String),
  kmsKeyId: Schema.String
}))

const asked = (word: string) =>
  Effect.async<string, StoreFailed>((resume) => {
    execFile(program, [word], { timeout: 300_000 }, (error, stdout, stderr) => {
      resume(error === null ? Effect.succeed(stdout) : Effect.fail(new StoreFailed({ message: stderr.trim() })))
    })
  })

const settings = Effect.flatMap(asked("settings"), Schema.decode(Settings))

/** How it is reached. */
export const start = Effect.orElse(settings, () =>
  Effect.zipRight(
    Effect.acquireRelease(
      Effect.zipRight(asked("install"), asked("start")),
      () => Effect.ignore(asked("stop"))
    ),
    settings
  ))
