import { assert, describe, it } from "@effect/vitest"
import { FastCheck, Option } from "effect"
import { runs } from "../../../testing/test/support/runs.js"
import { commands } from "../../src/line/commands.js"
import { parse } from "../../src/line/parse.js"
import * as RootHelp from "../../src/line/programHelp.js"
import type { Entry } from "../../src/options/parameter.js"

const pages = new Map(commands.map((page) => [page.name, page]))

const acceptedBy = (command: string): ReadonlyArray<Entry> => [
  ...pages.get(command)?.options ?? assert.fail(command),
  ...RootHelp.options
]

const upload = acceptedBy("upload")

type Given = readonly [entry: Entry, name: string, value: string]

const anyName = FastCheck.string().filter((word) => !word.startsWith("-") || word === "-")

/** An option of upload under any of its names, in either case, with a value that nothing else can be taken for. */
const anyGiven: FastCheck.Arbitrary<Given> = FastCheck.constantFrom(...upload).chain((entry) =>
  FastCheck.tuple(
    FastCheck.constant(entry),
    FastCheck.constantFrom(...entry.names, ...entry.names.map((name) => name.toUpperCase())),
    entry.placeholder === undefined
      ? FastCheck.constant("true")
      : FastCheck.oneof(FastCheck.string(), FastCheck.constantFrom("-", "--", "--json", "-q", "a=b", ""))
  )
)

/** The ways in which an option is written. */
const written = ([{ placeholder }, name, value]: Given, isInline: boolean): ReadonlyArray<string> =>
  isInline && name.startsWith("--")
    ? [`${name}=${value}`]
    : placeholder === undefined
    ? [name]
    : [name, value]

/** Two lists as one, each in its own order. */
const merged = <A>(
  some: ReadonlyArray<A>,
  others: ReadonlyArray<A>,
  first: ReadonlyArray<boolean>
): ReadonlyArray<A> => {
  const [one, ...rest] = some
  const [other, ...remaining] = others
  if (one === undefined) return others
  if (other === undefined) return some
  const [isFirst = true, ...more] = first
  return isFirst ? [one, ...merged(rest, others, more)] : [other, ...merged(some, remaining, more)]
}

describe("the words of a command line", () => {
  it.prop("are the same options and names in any order, with a value beside an option or in its word", [
    FastCheck.array(FastCheck.tuple(anyGiven, FastCheck.boolean()), { maxLength: 6 }),
    FastCheck.array(anyName, { maxLength: 5 }),
    FastCheck.array(FastCheck.boolean(), { maxLength: 11 }),
    FastCheck.array(FastCheck.string(), { maxLength: 4 })
  ], ([given, names, order, after]) => {
    const words = merged(given.map(([one, isInline]) => written(one, isInline)), names.map((name) => [name]), order)
      .flat()
    const line = parse(after.length === 0 ? words : [...words, "--", ...after], upload)
    assert.deepStrictEqual(line.names, [...names, ...after])
    assert.deepStrictEqual(line.mistake, Option.none())
    const expected = new Map<string, ReadonlyArray<string>>()
    for (const [[{ names: [name] }, , value]] of given) expected.set(name, [...expected.get(name) ?? [], value])
    assert.deepStrictEqual(
      new Map([...line.options].sort()),
      new Map([...expected].sort())
    )
  }, { fastCheck: { numRuns: runs(300) } })

  const said = (line: string) => {
    const words = line.split(" ").filter((word) => word !== "")
    const { mistake, names, options } = parse(words, acceptedBy(words.find((word) => pages.has(word)) ?? "upload"))
    return Option.match(mistake, {
      onNone: () => ({ names, ...Object.fromEntries(options) }),
      onSome: (found) => found._tag === "Unknown" ? found.word : `${found.entry.names[0]} ${found._tag}`
    })
  }

  it.each<readonly [string, unknown]>([
    ["upload -qv a", { names: ["upload", "a"], "--quiet": ["true"], "--verbose": ["true"] }],
    ["upload -q0v", { names: ["upload"], "--quiet": ["true"], "--verbose": ["true"], "--null": ["true"] }],
    ["upload --quiet no --again 1", { names: ["upload", "no", "1"], "--quiet": ["true"], "--again": ["true"] }],
    ["upload --json=false", { names: ["upload"], "--json": ["false"] }],
    ["upload --include a --include=b", { names: ["upload"], "--include": ["a", "b"] }],
    ["upload --name=a=b", { names: ["upload"], "--name": ["a=b"] }],
    ["upload --name=", { names: ["upload"], "--name": [""] }],
    ["upload --name --json 1", { names: ["upload", "1"], "--name": ["--json"] }],
    ["upload --files-from -", { names: ["upload"], "--files-from": ["-"] }],
    ["upload - a", { names: ["upload", "-", "a"] }],
    ["download x -o - --force", { names: ["download", "x"], "--output": ["-"], "--overwrite": ["true"] }],
    ["download x -oy", { names: ["download", "x"], "--output": ["y"] }],
    ["--quiet -- upload --help", { names: ["upload", "--help"], "--quiet": ["true"] }],
    ["upload --toString", "--toString"],
    ["upload --__proto__=x", "--__proto__"],
    ["upload --no-such-option=secret", "--no-such-option"],
    ["upload -dash.txt", "-dash.txt"],
    ["upload -qx", "-qx"],
    ["upload --name", "--name ValueMissing"],
    ["upload -- --name", { names: ["upload", "--name"] }]
  ])("%s", (line, expected) => {
    assert.deepStrictEqual(said(line), expected)
  })
})
