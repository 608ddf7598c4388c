import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"

const defaultSchedule: Schedule.Schedule<Duration.Duration> = Schedule.exponential("1 second", 1.5).pipe(
  Schedule.modifyDelay(({ duration }) => Effect.succeed(Duration.min(duration, Duration.seconds(15)))),
  Schedule.jittered
)

export const awaitProcessed = <R = never>(
  fileId: string,
  schedule?: Schedule.Schedule<unknown, FileRecord, never, R>
): Effect.Effect<FileRecord, ServiceError, ServiceApi | R> =>
  Effect.repeat(inspect(fileId), {
    while: (file) => file.status === "pending",
    schedule: schedule ?? defaultSchedule
  })
