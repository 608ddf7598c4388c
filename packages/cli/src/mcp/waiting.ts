/** How a transfer stands, as a model is told, and for how long a call waits for it. */
import * as Measure from "@stevedore/core/parts/measure"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { type Answer, type Refused, sentenceOf } from "./answers.js"
import { isOver, type Transfers, type TransferStatus } from "./transfers.js"

const words = {
  waiting: "waits for its turn, or for another process that moves it",
  moving: "is on its way",
  done: "is done",
  failed: "has failed",
  cancelled: "was stopped"
} as const

/** In words, and as data. */
export const answerOf = (
  { begun: { id }, moved, reached, secondsLeft, size, speed, state }: TransferStatus
): Answer => {
  const { file, proof, why } = reached ?? {}
  const left = secondsLeft === undefined || !Number.isFinite(secondsLeft)
    ? undefined
    : Math.max(1, Math.round(secondsLeft))
  const amount = state === "moving" && size !== undefined ? `, ${Measure.percent(moved, size)} %` : ""
  const time = left === undefined ? "" : `, about ${Measure.duration(Duration.seconds(left))} left`
  const where = file === undefined ? "" : `, as file ${file}${proof === undefined ? "" : ` (content ${proof})`}`
  const reason = why === undefined ? "" : `: ${sentenceOf(why)}`
  return {
    message: `${id} ${words[state]}${amount}${time}${where}${reason}`,
    id,
    state,
    bytes: size === undefined ? undefined : moved,
    size,
    bytes_per_second: speed === undefined ? undefined : Math.round(speed),
    seconds_left: left,
    file_id: file,
    proof,
    ...why
  }
}

/** Tells the client how a transfer stands, during a call that it wants to hear of. */
export type Progress = (standing: TransferStatus) => Effect.Effect<void>

// A tenth more of it, or another state
const newsOf = ({ moved, size = 0, state }: TransferStatus): string =>
  `${state} ${Math.floor(Measure.percent(moved, size) / 10)}`

/** How it stands once it is over, or after this time. A client that does not hear of it is told of news at once. */
export const wait = (
  { standing }: Pick<Transfers, "standing">,
  id: string,
  most: Duration.DurationInput,
  progress?: Progress
): Effect.Effect<TransferStatus, Refused> =>
  Effect.gen(function*() {
    const first = yield* standing(id)
    let told = { at: 0, moved: -1 }
    const tell = (now: TransferStatus) =>
      Effect.gen(function*() {
        const at = yield* Clock.currentTimeMillis
        if (progress === undefined || now.moved <= told.moved || at - told.at < 1_000 && !isOver(now)) return
        told = { at, moved: now.moved }
        yield* progress(now)
      })
    const isEnough = (now: TransferStatus) => isOver(now) || progress === undefined && newsOf(now) !== newsOf(first)
    yield* Effect.repeat(Effect.delay(Effect.tap(standing(id), tell), "100 millis"), { until: isEnough }).pipe(
      Effect.timeoutOption(most),
      Effect.unless(() => isOver(first))
    )
    return yield* standing(id)
  })
