/** Contenders against each other in one run: in turns, so that what disturbs the machine disturbs all of them. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Markdown from "./Markdown.js"
import type { Command, Measured, Sink } from "./Processes.js"
import { ContenderFailed, measure } from "./Processes.js"
import type { Summary } from "./Statistics.js"
import { summary } from "./Statistics.js"

export interface Contender extends Command {
  readonly title: string
}

export interface Standing {
  readonly title: string
  readonly wall: Summary
  readonly cpu: Summary
  readonly memory: Summary
  /** Connections of one run. */
  readonly connections: number
  readonly outputs: ReadonlyArray<string>
}

/** What the sink has to have seen of each run. */
export interface Expected {
  readonly bytes?: number
  readonly sent?: number
}

export interface Rules {
  readonly runs: number
  readonly sink?: Sink
  readonly expected?: Expected
  /** Before each run, and not measured. */
  readonly prepare?: Effect.Effect<void>
}

interface Run extends Measured {
  readonly connections: number
}

const check = (contender: Contender, what: "bytes" | "sent", expected: number | undefined, counted: number) =>
  expected === undefined || expected === counted ? Effect.void : new ContenderFailed({
    message: `${contender.title}: ${expected} bytes are due, the sink counted ${counted} (${what})`
  })

const once = (contender: Contender, rules: Rules): Effect.Effect<Run, ContenderFailed> =>
  Effect.gen(function*() {
    yield* rules.prepare ?? Effect.void
    if (rules.sink !== undefined) yield* rules.sink.read
    const measured = yield* measure(contender)
    if (rules.sink === undefined) return { ...measured, connections: 0 }
    const counted = yield* rules.sink.read
    yield* check(contender, "bytes", rules.expected?.bytes, counted.bytes)
    yield* check(contender, "sent", rules.expected?.sent, counted.sent)
    return { ...measured, connections: counted.connections }
  })

const standing = (title: string, runs: ReadonlyArray<Run>): Standing => ({
  title,
  wall: summary(runs.map(({ wall }) => wall)),
  cpu: summary(runs.map(({ cpu }) => cpu)),
  memory: summary(runs.map(({ memory }) => memory)),
  connections: summary(runs.map(({ connections }) => connections)).median,
  outputs: runs.map(({ output }) => output)
})

/**
 * The contenders in the order of a round, from 1: every other round backwards. What a run costs depends on what ran
 * before it: after one that needed much memory, the next finds it already given.
 */
export const inOrderOf = <A>(round: number, contenders: ReadonlyArray<A>): ReadonlyArray<A> =>
  round % 2 === 1 ? contenders : contenders.toReversed()

/**
 * Every contender `runs` times, in turns, every other round backwards. A run that does not end well, or moves other bytes
 * than it should, fails.
 */
export const hold = (
  contenders: ReadonlyArray<Contender>,
  rules: Rules
): Effect.Effect<ReadonlyArray<Standing>, ContenderFailed> =>
  Effect.gen(function*() {
    const rounds = yield* Effect.forEach(
      Array.from({ length: rules.runs }, (_, round) => round + 1),
      (round) =>
        Effect.forEach(inOrderOf(round, contenders), (contender) =>
          once(contender, rules).pipe(
            Effect.tap(({ cpu, memory, wall }) =>
              Console.error(
                `  ${round}/${rules.runs} ${contender.title}: ${wall.toFixed(2)} s, ${cpu.toFixed(2)} s CPU, ${
                  Markdown.mebibytes(memory)
                } MiB`
              )
            ),
            Effect.map((run) => ({ contender, run }))
          ))
    )
    const runs = rounds.flat()
    return contenders.map((contender) =>
      standing(contender.title, runs.filter((one) => one.contender === contender).map(({ run }) => run))
    )
  })

/** A table of standings, as ratios to the first of them. */
export const table = (standings: ReadonlyArray<Standing>): string => {
  const [first] = standings
  const ratio = (own: Summary, of: Summary | undefined) => Markdown.number(own.median / (of?.median ?? NaN))
  return Markdown.table(
    ["", "wall, s", "×", "CPU, s", "×", "peak memory, MiB", "connections"],
    standings.map(({ connections, cpu, memory, title, wall }) => [
      title,
      Markdown.spread(wall),
      ratio(wall, first?.wall),
      Markdown.spread(cpu),
      ratio(cpu, first?.cpu),
      Markdown.mebibytes(memory.median),
      connections === 0 ? "–" : String(connections)
    ])
  )
}
