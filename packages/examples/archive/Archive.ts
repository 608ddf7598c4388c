import { KeyValueStore } from "@effect/platform"
import { Files, type ServiceApi } from "@stevedore/core"
import { Array, Context, Effect, Option, Schema } from "effect"

export class Recording extends Schema.Class<Recording>("Recording")({
  id: Schema.String,
  title: Schema.String,
  bytes: Schema.Number,
  complete: Schema.Boolean
}) {}

/** The recordings of each user, in a database of its own. */
export class Archive extends Effect.Service<Archive>()("Archive", {
  effect: Effect.gen(function*() {
    const services = yield* Effect.context<ServiceApi.ServiceApi>()
    const database = (yield* KeyValueStore.KeyValueStore).forSchema(
      Schema.Array(Recording)
    )
    const lock = yield* Effect.makeSemaphore(1)

    const rows = (user: string) =>
      Effect.map(
        database.get(user),
        Option.getOrElse((): ReadonlyArray<Recording> => [])
      )

    /** A page is about to upload: from now on the recording is this user's. */
    const opened = (user: string, recording: Recording) =>
      Effect.flatMap(
        rows(user),
        (others) => database.set(user, [...others, recording])
      ).pipe(lock.withPermits(1), Effect.uninterruptible)

    const owns = (user: string, id: string) =>
      Effect.map(rows(user), Array.some((recording) => recording.id === id))

    // the page may be gone before it can say that it has finished
    const looked = (recording: Recording) =>
      recording.complete ? Effect.succeed(recording) : Files.inspect(
        recording.id
      ).pipe(
        Effect.map(({ status }) =>
          new Recording({ ...recording, complete: status !== "pending" })
        ),
        Effect.catchTag("NotFound", () => Effect.succeed(recording))
      )

    /** What a user has uploaded. What is not complete yet is asked for. */
    const of = (user: string) =>
      Effect.gen(function*() {
        const all = yield* Effect.forEach(yield* rows(user), looked, {
          concurrency: 4
        })
        yield* database.set(user, all)
        return all.filter(({ complete }) => complete)
      }).pipe(
        lock.withPermits(1),
        Effect.mapInputContext((caller: Context.Context<never>) =>
          Context.merge(services, caller)
        )
      )

    return { opened, owns, of }
  })
}) {}
