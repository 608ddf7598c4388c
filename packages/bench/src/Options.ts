/** The words of `npm run bench`. */
import { parseArgs } from "node:util"

export interface Options {
  readonly topics: ReadonlyArray<string>
  readonly size: number | undefined
  readonly runs: number
  readonly full: boolean
  /** Only print: RESULTS.md stays as it is. */
  readonly print: boolean
  /** Only say which words there are. */
  readonly help: boolean
}

/** What `--help` says. */
export const help = (topics: ReadonlyArray<string>): string =>
  `npm run bench -- [topic...] [options]

Measures the topics, or all of them, and writes what it found into packages/bench/RESULTS.md.

  --size 1GiB  the size of the file, where a topic has one
  --runs 5     how often each contender runs
  --full       the large sizes too, up to 10 GB
  --print      only prints, and leaves RESULTS.md as it is
  --help       this

Topics: ${topics.join(", ")}`

const factors: Readonly<Record<string, number>> = {
  "": 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30
}

/** `1GiB`, `500MB`, `1024`: bytes; none for what is no size. */
export const parseSize = (text: string): number | undefined => {
  const [, digits = "", unit = ""] = /^(\d+(?:\.\d+)?)\s*([A-Za-z]*)$/.exec(text) ?? []
  const factor = factors[unit]
  return digits === "" || factor === undefined ? undefined : Math.round(Number(digits) * factor)
}

export const parse = (words: ReadonlyArray<string>): Options => {
  const { positionals, values } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      size: { type: "string" },
      runs: { type: "string", default: "5" },
      full: { type: "boolean", default: false },
      print: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false }
    }
  })
  const size = values.size === undefined ? undefined : parseSize(values.size)
  if (values.size !== undefined && size === undefined) throw new Error(`--size ${values.size}: give one such as 1GiB`)
  const runs = Number(values.runs)
  if (!Number.isInteger(runs) || runs < 1) throw new Error(`--runs ${values.runs}: give a number from 1`)
  return { topics: positionals, size, runs, full: values.full, print: values.print, help: values.help }
}
