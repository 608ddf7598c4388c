import { KeyValueStore } from "@effect/platform"
import {
  Lists,
  type UploadOptions,
  Uploads,
  type UploadSource
} from "@stevedore/core"
import { Context, Effect, Option, Schema, Stream } from "effect"

const Recording = Schema.Struct({
  fileId: Schema.String,
  name: Schema.String,
  bytes: Schema.Number
})

/**
 * An application that puts recordings into storage and lists them, by project,
 * in its own database.
 */
export class Recordings extends Effect.Service<Recordings>()("Recordings", {
  effect: Effect.gen(function*() {
    const services = yield* Effect.context<Uploads.Requirements>()
    const database = (yield* KeyValueStore.KeyValueStore).forSchema(
      Schema.Array(Recording)
    )
    const lock = yield* Effect.makeSemaphore(1)

    // the caller's context takes precedence over the layer's: its span,
    // its RetryPolicy, its Timeouts
    const withServices = (caller: Context.Context<never>) =>
      Context.merge(services, caller)

    const of = (projectId: string) =>
      Effect.map(database.get(projectId), Option.getOrElse(() => []))

    /**
     * Storage first, so that a row of the database never points at a missing
     * file.
     */
    const save = (
      projectId: string,
      source: UploadSource,
      options?: UploadOptions.UploadOptions
    ) =>
      Effect.gen(function*() {
        const file = yield* Uploads.upload(source, options)
        const recording = {
          fileId: file.id,
          name: file.name,
          bytes: source.size
        }
        const others = yield* of(projectId)
        yield* database.set(projectId, [...others, recording])
        return recording
      }).pipe(lock.withPermits(1), Effect.mapInputContext(withServices))

    /** Every project of the service, with its recordings. */
    const overview = Lists.projects({ sort: "title:asc" }).pipe(
      Stream.mapEffect(({ id = "", title }) =>
        Effect.map(of(id), (recordings) => ({ title, recordings }))
      ),
      Stream.mapInputContext(withServices)
    )

    return { save, of, overview }
  })
}) {}
