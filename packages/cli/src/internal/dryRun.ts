import { ServiceApi } from "@stevedore/core/ServiceApi"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Forecast from "../Forecast.js"
import * as Measure from "../Measure.js"
import { Output } from "../Output.js"
import * as Printable from "../Printable.js"
import type { FileToUpload } from "../UploadPaths.js"
import type * as UploadReports from "../UploadReports.js"

/** What is known before anything is sent. */
interface Planned {
  readonly files: ReadonlyArray<FileToUpload>
  /** For each file. */
  readonly calls: number
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

/**
 * Tells what would be sent, and how long it takes at least. Nothing is sent.
 *
 * @internal
 */
export const tell = ({ calls: perFile, files }: Planned, json: boolean) =>
  Effect.gen(function*() {
    const output = yield* Output
    const bytes = files.reduce((sum, { size }) => sum + size, 0)
    const calls = files.length * perFile
    const limit = files.length === 0 ? Option.none<Forecast.Rule>() : yield* rule
    if (json) {
      const planned = files.map(({ path, size }): typeof UploadReports.Planned.Type => ({
        type: "planned",
        path,
        bytes: size
      }))
      const plan: typeof UploadReports.Plan.Type = {
        type: "plan",
        files: files.length,
        bytes,
        calls,
        rateLimit: Option.getOrNull(
          Option.map(limit, ({ calls, window }) => ({ calls, seconds: Duration.toSeconds(window) }))
        ),
        seconds: Option.getOrNull(Option.map(limit, (rule) => Duration.toSeconds(Forecast.ofCalls(calls, rule))))
      }
      return yield* output.json([...planned, plan])
    }
    yield* output.lines(files.map(({ path, size }) => Printable.columns([Measure.bytes(size), path])))
    const words = Option.match(limit, {
      onNone: () => "the service states no rate limit",
      onSome: (rule) => limitWords(calls, bytes, rule)
    })
    yield* output.note(
      files.length === 0
        ? "Nothing to upload"
        : `Would upload ${files.length.toLocaleString("en")} ${files.length === 1 ? "file" : "files"}, ${
          Measure.bytes(bytes)
        }: ${calls.toLocaleString("en")} calls, ${words}`
    )
  })
