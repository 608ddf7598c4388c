/** A fault script as a file: one sentence per line, as in a program, or the script's JSON. */
import * as ErrorKind from "@stevedore/core/ErrorKind"
import * as FaultRule from "@stevedore/testing/FaultRule"
import * as FaultScript from "@stevedore/testing/FaultScript"
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as ExitCode from "../print/exitCode.js"
import type { Call, Value } from "./calls.js"
import { isCalls, parseCalls } from "./calls.js"

/** The fault file cannot be parsed; nothing was started. */
export class InvalidFaultFile extends Schema.TaggedError<InvalidFaultFile>("@stevedore/cli/InvalidFaultFile")(
  "InvalidFaultFile",
  {
    kind: ErrorKind.field("input"),
    path: Schema.String,
    /** From 1; absent if the file is JSON. */
    line: Schema.optional(Schema.Int),
    /** As in the file; empty if the file is JSON. */
    sentence: Schema.String,
    /** What is wrong with it, and what would be valid. */
    problem: Schema.String
  }
) {
  get exitCode(): number {
    return ExitCode.usage
  }
  override get message(): string {
    const place = this.line === undefined ? this.path : `${this.path}:${this.line}`
    return this.sentence === ""
      ? `${place}: ${this.problem}`
      : `${place}: ${this.problem}\n  ${this.sentence}\nWrite it like on("putPart").part(3).times(2).answer(503)`
  }
}

interface Sentence {
  readonly line: number
  readonly text: string
}

// A line that begins with a dot continues the sentence before it, as long chains are written.
const sentencesOf = (text: string): ReadonlyArray<Sentence> => {
  const sentences: Array<Sentence> = []
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = raw.trim()
    const last = sentences.at(-1)
    if (line === "" || line.startsWith("#") || line.startsWith("//")) continue
    if (line.startsWith(".") && !line.startsWith(".and(") && last !== undefined) {
      sentences[sentences.length - 1] = { ...last, text: `${last.text}${line}` }
    } else {
      sentences.push({ line: index + 1, text: line })
    }
  }
  return sentences
}

type Fields = Readonly<Record<string, unknown>>

const fault = (name: string, fields: Fields = {}): Fields => ({ fault: { _tag: name, ...fields } })

const duration = (value: Value | undefined): Either.Either<number, string> =>
  Either.mapBoth(Schema.decodeUnknownEither(Schema.DurationFromSelf)(durationOf(value)), {
    onLeft: () => `expected a duration, such as "10 seconds", not ${JSON.stringify(value) ?? "nothing"}`,
    onRight: Duration.toMillis
  })

const durationOf = (value: Value | undefined): unknown => Option.getOrUndefined(Duration.decodeUnknown(value))

const lasting = (name: string, value: Value | undefined): Either.Either<Fields, string> =>
  Either.map(duration(value), (millis) => fault(name, { duration: millis }))

const optional = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const optionOf = (value: Value | undefined, name: string): Value | undefined =>
  typeof value === "object" && !isCalls(value) ? value[name] : undefined

const textOf = (value: Value | undefined): Value | undefined => typeof value === "number" ? String(value) : value

type Verb = (args: ReadonlyArray<Value>, target: unknown) => Either.Either<Fields, string>

const plain = (name: string): Verb => () => Either.right(fault(name))

const verbs: Readonly<Record<string, Verb>> = {
  part: ([part]) => Either.right({ part }),
  times: ([times]) => Either.right({ times }),
  always: () => Either.right({ times: null }),
  after: ([skip]) => Either.right({ skip }),
  answer: ([status, code, options]) =>
    Either.right(fault("Answer", optional({ status, code, retryAfter: textOf(optionOf(options, "retryAfter")) }))),
  retryAfter: ([value], target) => {
    const isAtStorage = Schema.is(FaultRule.Target)(target) && FaultRule.isAtStorage(target)
    return Either.right(fault("Answer", { status: isAtStorage ? 503 : 429, retryAfter: textOf(value) }))
  },
  html: ([status]) => Either.right(fault("Html", { status })),
  loseAnswer: plain("LoseAnswer"),
  reset: plain("Reset"),
  resetAfter: ([afterBytes]) => Either.right(fault("Reset", { afterBytes })),
  stall: ([phase, options]) =>
    Either.right(fault("Stall", optional({ phase, afterBytes: optionOf(options, "afterBytes") }))),
  delay: ([value]) => lasting("Delay", value),
  omitEtag: plain("OmitEtag"),
  expire: plain("Expire"),
  slowDown: ([value]) => lasting("SlowDown", value),
  landLate: ([value]) => lasting("LandLate", value),
  repeatCursor: plain("RepeatCursor"),
  emptyPage: plain("EmptyPage"),
  dropCursor: plain("DropCursor"),
  corruptPage: plain("CorruptPage"),
  denyMore: plain("DenyMore"),
  rejectCursor: plain("RejectCursor"),
  shortPage: ([items]) => Either.right(fault("ShortPage", { items })),
  itemAppears: plain("ItemAppears"),
  itemVanishes: plain("ItemVanishes")
}

const issuesOf = (error: ParseResult.ParseError): string =>
  Arr.dedupe(
    ParseResult.ArrayFormatter.formatErrorSync(error).map(({ message, path }) =>
      path.length === 0 ? message : `${path.join(".")}: ${message}`
    )
  ).slice(0, 3).join("; ")

const decodeRule = Schema.decodeUnknownEither(FaultRule.Rule, { onExcessProperty: "error" })

const ruleOf = (
  calls: ReadonlyArray<Call>,
  target: Value | undefined
): Either.Either<FaultScript.FaultScript, string> =>
  Either.gen(function*() {
    let rule: Fields = { target }
    for (const { args, name } of calls) {
      const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined
      if (verb === undefined) {
        return yield* Either.left(`unknown .${name}(): expected one of ${Object.keys(verbs).join(", ")}`)
      }
      if ("fault" in rule) return yield* Either.left(`.${name}() comes after the fault, which ends the sentence`)
      rule = { ...rule, ...yield* verb(args, target) }
    }
    if (!("fault" in rule)) return yield* Either.left("no fault is given, such as .reset()")
    return new FaultScript.FaultScript({ rules: [yield* Either.mapLeft(decodeRule(rule), issuesOf)] })
  })

const skewOf = ([by, direction]: ReadonlyArray<Value>): Either.Either<FaultScript.FaultScript, string> =>
  Either.flatMap(duration(by), (millis) =>
    direction === "ahead" || direction === "behind"
      ? Either.right(FaultScript.clockSkew(millis, direction))
      : Either.left(`expected "ahead" or "behind", not ${JSON.stringify(direction) ?? "nothing"}`))

const scriptOf = (calls: ReadonlyArray<Call>): Either.Either<FaultScript.FaultScript, string> => {
  const [rest, more] = Arr.span(calls, ({ name }) => name !== "and")
  const [first, ...others] = rest
  const script: Either.Either<FaultScript.FaultScript, string> = first === undefined
    ? Either.right(FaultScript.empty)
    : first.name === "clockSkew" && others.length === 0
    ? skewOf(first.args)
    : first.name === "on"
    ? ruleOf(others, first.args[0])
    : Either.left(
      `unknown ${first.name}: expected a sentence that begins with on("put") or clockSkew("1 minute", "ahead")`
    )
  const [conjunction, ...behind] = more
  if (conjunction === undefined) return script
  const [inner] = conjunction.args
  return isCalls(inner)
    ? Either.map(
      Either.all([script, scriptOf(inner.calls), scriptOf(behind)]),
      (scripts) => FaultScript.all(scripts)
    )
    : Either.left(".and() takes a sentence, such as .and(on(\"complete\").loseAnswer())")
}

const fromSentences = (path: string, text: string): Either.Either<FaultScript.FaultScript, InvalidFaultFile> =>
  Either.map(
    Either.all(
      sentencesOf(text).map(({ line, text }) =>
        Either.mapLeft(
          Either.flatMap(parseCalls(text), scriptOf),
          (problem) => new InvalidFaultFile({ path, line, sentence: text, problem })
        )
      )
    ),
    FaultScript.all
  )

const decodeJson = Schema.decodeEither(Schema.parseJson(FaultScript.FaultScript), { onExcessProperty: "error" })

/**
 * The script in a file. A file that begins with `{` is the JSON of a `FaultScript`. Any other has one sentence per
 * line, such as `on("putPart").part(3).times(2).answer(503, "SlowDown")`, and comment lines that begin with `#`. The
 * printed form of a script (`String(script)`) can be parsed again.
 */
export const parse = (path: string, text: string): Either.Either<FaultScript.FaultScript, InvalidFaultFile> =>
  text.trimStart().startsWith("{")
    ? Either.mapLeft(
      decodeJson(text),
      (error) => new InvalidFaultFile({ path, sentence: "", problem: `not a valid fault script: ${issuesOf(error)}` })
    )
    : fromSentences(path, text)
