/** `stevedore limit`: shows and changes the bandwidth limit of the commands that run. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Running from "../connection/running.js"
import { invalid } from "../options/invalidInput.js"
import * as LimitRate from "../options/limitRate.js"
import { Output } from "../print/output.js"
import type { Limited } from "../print/schemas.js"
import * as Table from "../print/table.js"
import type * as Given from "./options.js"

const columns: ReadonlyArray<Table.Column> = [
  { header: "PROCESS", width: 8 },
  { header: "COMMAND", width: 8 },
  { header: "NOW", width: 12 },
  { header: "LIMIT", width: undefined, spare: true }
]

const rowOf = ({ command, limit, pid, rate }: Running.Running): ReadonlyArray<string> => [
  String(pid),
  command,
  LimitRate.describe(rate ?? Number.POSITIVE_INFINITY),
  limit
]

// A command looks for a change once a second; one that is stopped or busy may take longer
const patience = Schedule.intersect(Schedule.spaced("100 millis"), Schedule.recurs(40))

const change = (register: Running.Register, all: ReadonlyArray<Running.Named>, limit: string) =>
  Effect.gen(function*() {
    const output = yield* Output
    yield* Effect.forEach(all, ({ name }) => register.tell(name, limit), { discard: true })
    yield* Effect.forEach(
      all,
      ({ name, running }) =>
        Effect.repeat(register.isTold(name), { schedule: patience, while: (isTold) => isTold }).pipe(
          Effect.zipRight(register.isTold(name)),
          Effect.flatMap((isTold) =>
            Effect.when(
              output.warn(`Process ${running.pid} has not answered yet: it changes its limit once it runs again`),
              () => isTold
            )
          )
        ),
      { concurrency: "unbounded", discard: true }
    )
  })

/** Shows the limits of the uploads and downloads that run, after changing them if a rate is given. */
export const run = ({ json, rate }: Given.Limiting) =>
  Effect.gen(function*() {
    const output = yield* Output
    const wanted = Option.filter(rate, (text) => text !== "show")
    const limit = Option.map(wanted, LimitRate.parse)
    if (Option.isSome(limit) && Option.isNone(limit.value)) {
      return yield* invalid("RATE", `expected ${LimitRate.expected}`)
    }
    const register = yield* Running.register
    const running = Option.match(register, { onNone: () => Effect.succeed([]), onSome: ({ all }) => all })
    if (Option.isSome(register) && Option.isSome(wanted)) yield* change(register.value, yield* running, wanted.value)
    const now = yield* running
    if (json) return yield* output.json(now.map(({ running }): typeof Limited.Type => ({ type: "limit", ...running })))
    if (now.length === 0) return yield* output.note("No upload or download is running")
    yield* Table.print(columns, now.map(({ running }) => rowOf(running)))
  })
