import * as BandwidthLimit from "@stevedore/core/BandwidthLimit"
import * as Measure from "@stevedore/core/parts/measure"
import { ServiceApi } from "@stevedore/core/ServiceApi"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { FileToUpload } from "../files/paths.js"
import * as Forecast from "../print/forecast.js"
import { Output } from "../print/output.js"
import * as Printable from "../print/printable.js"
import type { Plan, Planned } from "../print/schemas.js"

/** What is known before anything is sent. */
interface Planned {
  readonly files: ReadonlyArray<FileToUpload>
  /** For each file. */
  readonly calls: number
  /** How many were uploaded before. */
  readonly known: number
}

// One call shows the headers with the limit of a service whose profile states none
const rule = Effect.gen(function*() {
  const { profile, rateLimit, tokenInfo } = yield* ServiceApi
  if (profile.rateLimit === undefined) yield* Effect.ignore(tokenInfo)
  return Forecast.ruleOf(profile, yield* rateLimit)
})

const limitWords = (calls: number, bytes: number, rule: Forecast.Rule): string => {
  const time = Forecast.ofCalls(calls, rule)
  const rate = `${rule.calls} in ${Measure.duration(rule.window)}`
  if (calls <= rule.calls) return `at once: the service allows ${rate}`
  const pace = bytes / Math.max(1, Duration.toSeconds(time))
  return `${Measure.duration(time)}, as the service allows ${rate}. The bytes take longer only below ${
    Measure.speed(pace)
  }`
}

// The calls of the first window are made at once
const longer = (bytes: Option.Option<Duration.Duration>, calls: number, rule: Option.Option<Forecast.Rule>) =>
  Forecast.left(
    bytes,
    Option.map(rule, (one) => calls <= one.calls ? Duration.zero : Forecast.ofCalls(calls, one))
  )

const bandwidthWords = (time: Duration.Duration, rate: number, by: "bytes" | "calls"): string =>
  `. The bytes take ${Measure.duration(Duration.max(time, Duration.seconds(1)))} at the limit of ${
    Measure.speed(rate)
  }: the ${by} take longer`

/** Tells what would be sent, and how long it takes at least. Nothing is sent. */
export const tell = ({ calls: perFile, files, known }: Planned, json: boolean) =>
  Effect.gen(function*() {
    const output = yield* Output
    const bytes = files.reduce((sum, { size }) => sum + size, 0)
    const calls = files.length * perFile
    const limit = files.length === 0 ? Option.none<Forecast.Rule>() : yield* rule
    const { rate } = yield* Effect.flatMap(BandwidthLimit.BandwidthLimit, ({ current }) => current)
    const timeOfBytes = Number.isFinite(rate) ? Option.some(Duration.seconds(bytes / rate)) : Option.none()
    const by = Option.map(longer(timeOfBytes, calls, limit), (left) => left.by)
    if (json) {
      const planned = files.map(({ path, size }): typeof Planned.Type => ({
        type: "planned",
        path,
        bytes: size
      }))
      const plan: typeof Plan.Type = {
        type: "plan",
        files: files.length,
        bytes,
        calls,
        rateLimit: Option.getOrNull(
          Option.map(limit, ({ calls, window }) => ({ calls, seconds: Duration.toSeconds(window) }))
        ),
        seconds: Option.getOrNull(Option.map(limit, (rule) => Duration.toSeconds(Forecast.ofCalls(calls, rule)))),
        bytesSeconds: Option.getOrNull(Option.map(timeOfBytes, Duration.toSeconds)),
        by: Option.getOrNull(by)
      }
      return yield* output.json([...planned, plan])
    }
    yield* output.lines(files.map(({ path, size }) => Printable.columns([Measure.bytes(size), path])))
    const words = Option.match(limit, {
      onNone: () => "the service states no rate limit",
      onSome: (rule) => limitWords(calls, bytes, rule)
    })
    const bandwidth = Option.match(Option.all([timeOfBytes, by]), {
      onNone: () => "",
      onSome: ([time, by]) => bandwidthWords(time, rate, by)
    })
    yield* output.note(
      files.length === 0
        ? `Nothing to upload${known === 0 ? "" : `: ${known.toLocaleString("en")} already uploaded`}`
        : `Would upload ${files.length.toLocaleString("en")} ${files.length === 1 ? "file" : "files"}, ${
          Measure.bytes(bytes)
        }: ${calls.toLocaleString("en")} calls, ${words}${bandwidth}`
    )
  })
