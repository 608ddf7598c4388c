/** What the service knows about a file. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { FileRecord } from "./FileRecord.js"
import { ServiceApi } from "./ServiceApi.js"
import type { ServiceError } from "./ServiceError.js"

/**
 * The record of a file.
 *
 * @example
 * import { Files } from "@stevedore/core"
 * import { Effect } from "effect"
 *
 * const named = Effect.flatMap(Files.inspect("1kf00nQk9yfWKfsTDni8aO"), (file) => Effect.log(file.name))
 *
 * @category files
 */
export const inspect = (fileId: string): Effect.Effect<FileRecord, ServiceError, ServiceApi> =>
  Effect.flatMap(ServiceApi, (service) => service.file(fileId))

// jitter, so that clients do not poll in step
const defaultSchedule: Schedule.Schedule<Duration.Duration> = Schedule.exponential("1 second", 1.5).pipe(
  Schedule.modifyDelay((_, delay) => Duration.min(delay, Duration.seconds(15))),
  Schedule.jittered
)

/**
 * The record of a file as soon as its status is no longer `pending`: usually `completed` or `failed`. A
 * file can be downloaded before that. The schedule says when to look again: by default after 1 second at first, then at
 * growing intervals up to 15 seconds. If the schedule ends first, the record is still `pending`.
 *
 * @example
 * import { Files } from "@stevedore/core"
 * import { Schedule } from "effect"
 *
 * const patient = Files.awaitProcessed("1kf00nQk9yfWKfsTDni8aO")
 * const tenTimes = Files.awaitProcessed(
 *   "1kf00nQk9yfWKfsTDni8aO",
 *   Schedule.intersect(Schedule.spaced("30 seconds"), Schedule.recurs(10))
 * )
 *
 * @category files
 */
export const awaitProcessed = <R = never>(
  fileId: string,
  schedule?: Schedule.Schedule<unknown, FileRecord, R>
): Effect.Effect<FileRecord, ServiceError, ServiceApi | R> => {
  const looking: Schedule.Schedule<unknown, FileRecord, R> = schedule ?? defaultSchedule
  const pending = Schedule.recurWhile((file: FileRecord) => file.status === "pending")
  return Effect.repeat(
    inspect(fileId),
    Schedule.zipRight(Schedule.intersect(looking, pending), Schedule.identity<FileRecord>())
  )
}
