import type { PresignedUrl } from "@stevedore/core/PresignedUrl"
import type { SingleSession } from "@stevedore/core/UploadSession"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Measure from "../Measure.js"

// A signature that is younger or older than this may be refused, and no network takes so long
const tolerance = 60_000

interface Reading {
  readonly whose: string
  /** In milliseconds of this machine's clock. */
  readonly ahead: number
  readonly remedy: string
}

const readingsOf = (
  { clockOffset, dateOffset, url }: { readonly url: PresignedUrl } & Pick<SingleSession, "clockOffset" | "dateOffset">
): ReadonlyArray<Reading> => [
  { whose: "this machine's clock", ahead: 0, remedy: "Correct it." },
  ...(dateOffset === undefined
    ? []
    : [{ whose: "the clock of the service's Date header", ahead: dateOffset, remedy: "Tell whoever runs the service." }]),
  ...(Option.isNone(url.signedAt)
    ? []
    : [{ whose: "the clock that signs the URLs", ahead: clockOffset, remedy: "Tell whoever runs the service." }])
]

const isFar = (one: Reading, other: Reading): boolean => Math.abs(one.ahead - other.ahead) > tolerance

/**
 * What to note of the clocks that a session shows, if they do not agree: of three, the one that differs is wrong.
 *
 * @internal
 */
export const clockNote = (session: Parameters<typeof readingsOf>[0]): string | undefined => {
  const readings = readingsOf(session)
  const pairs = readings.flatMap((one, index) => readings.slice(index + 1).map((other) => [one, other] as const))
  const [apart] = pairs.filter(([one, other]) => isFar(one, other))
  if (apart === undefined) return undefined
  const wrong = readings.length === 3
    ? readings.filter((one) => readings.every((other) => other === one || isFar(one, other)))
    : []
  const [only] = wrong
  if (only === undefined || wrong.length > 1) {
    return `The clocks differ: ${
      readings.map(({ ahead, whose }) => `${whose} says ${difference(ahead)}`).join(", ")
    } here. One of them is wrong.`
  }
  const [right] = readings.filter((one) => one !== only)
  const { remedy, whose } = only
  return `${whose.slice(0, 1).toUpperCase()}${whose.slice(1)} is wrong by ${
    difference(only.ahead - (right?.ahead ?? 0))
  }: the others agree. ${remedy}`
}

const difference = (millis: number): string =>
  `${millis < 0 ? "-" : "+"}${Measure.duration(Duration.millis(Math.abs(millis)))}`
