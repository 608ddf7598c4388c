/**
 * `stevedore bulk`: jobs of many files, in a database.
 *
 * @since 0.1.0
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as ErrorKind from "@stevedore/core/ErrorKind"
import type { SourceError } from "@stevedore/core/SourceError"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { createRequire } from "node:module"
import * as Arguments from "./Arguments.js"
import { CommandWords } from "./CommandWords.js"
import type * as Configuration from "./Configuration.js"
import * as ExitCode from "./ExitCode.js"
import { type ActionName, actions, isAction, isForAnother, jobOf } from "./internal/bulkActions.js"
import * as BulkInstalled from "./internal/bulkInstalled.js"
import { question } from "./internal/nearest.js"
import { InvalidInput } from "./InvalidInput.js"
import type { Output, OutputFailed } from "./Output.js"

/**
 * The options of the command.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends Configuration.Given {
  /** Such as `start`. */
  readonly action: string
  readonly job: Option.Option<string>
  /** The directory of the files of a job. */
  readonly path: Option.Option<string>
  readonly recursive: boolean
  readonly manifest: Option.Option<string>
  readonly mount: Option.Option<string>
  /** Each a name and a directory: `archive=/mnt/archive`. */
  readonly root: ReadonlyArray<string>
  readonly host: Option.Option<string>
  readonly chunk: Option.Option<number>
  readonly submitOnly: boolean
  readonly files: number
  /** In seconds. */
  readonly lease: number
  readonly watch: boolean
  /** A file of SQLite. */
  readonly store: Option.Option<string>
  /** The variable with the URL of a PostgreSQL. */
  readonly databaseEnv: Option.Option<string>
  readonly json: boolean
}

/**
 * A job ended and not all of its files were uploaded.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobFailed extends Schema.TaggedError<JobFailed>("@stevedore/cli/JobFailed")("JobFailed", {
  kind: ErrorKind.field("input"),
  job: Schema.String,
  /** In files, as the next. */
  failed: Schema.Number,
  /** Those of a cancelled job that were not tried. */
  cancelled: Schema.Number
}) {
  /**
   * @since 0.1.0
   */
  get exitCode(): number {
    return ExitCode.failed
  }
  override get message(): string {
    const left = this.cancelled === 0 ? "" : ` and ${this.cancelled} cancelled`
    return `${this.failed} files of ${JSON.stringify(this.job)} failed${left}. See stevedore bulk failures, and try ` +
      "again with stevedore bulk retry and start."
  }
}

/**
 * The database with the jobs cannot be reached, or does not do what it is asked.
 *
 * @since 0.1.0
 * @category errors
 */
export class DatabaseFailed extends Schema.TaggedError<DatabaseFailed>("@stevedore/cli/DatabaseFailed")(
  "DatabaseFailed",
  {
    kind: ErrorKind.field("tryLater"),
    /** What it said. */
    problem: Schema.String
  }
) {
  /**
   * @since 0.1.0
   */
  get exitCode(): number {
    return ExitCode.failed
  }
  override get message(): string {
    return `The database with the jobs failed: ${this.problem}. Check that it runs and what it says, and run the ` +
      "command again: nothing is lost."
  }
}

/**
 * Where the jobs are.
 *
 * @since 0.1.0
 * @category models
 */
export type Place =
  | { readonly _tag: "Sqlite"; readonly file: Option.Option<string> }
  | { readonly _tag: "Postgres"; readonly url: Redacted.Redacted }

const usualVariable = "STEVEDORE_DATABASE_URL"

const invalid = (input: string, problem: string) => new InvalidInput({ input, problem })

const postgres = (variable: string, url: Redacted.Redacted): Effect.Effect<Place, InvalidInput> =>
  /^postgres(?:ql)?:\/\/./.test(Redacted.value(url))
    ? Effect.succeed({ _tag: "Postgres", url })
    : invalid(variable, "expected the URL of a PostgreSQL, such as postgres://user:password@host/database")

const variableOf = (name: string) =>
  Effect.mapError(
    Config.option(Config.redacted(Config.nonEmptyString(name))),
    () => invalid(name, "cannot be read")
  )

/**
 * The database of a command: what `--database-env` or `--store` names, or else the variable `STEVEDORE_DATABASE_URL`, or
 * else a file of SQLite among the state of this user.
 *
 * @since 0.1.0
 * @category constructors
 */
export const place = (
  { databaseEnv, store }: Pick<Options, "databaseEnv" | "store">
): Effect.Effect<Place, InvalidInput> =>
  Effect.gen(function*() {
    if (Option.isSome(databaseEnv)) {
      if (Option.isSome(store)) {
        return yield* invalid("--store", "not beside --database-env: the jobs are in one database")
      }
      const url = yield* variableOf(databaseEnv.value)
      if (Option.isNone(url)) {
        return yield* invalid(databaseEnv.value, "not set: --database-env names this variable")
      }
      return yield* postgres(databaseEnv.value, url.value)
    }
    const url = Option.isSome(store) ? Option.none() : yield* variableOf(usualVariable)
    return Option.isSome(url) ? yield* postgres(usualVariable, url.value) : { _tag: "Sqlite", file: store }
  })

/** This package has none of it, so that nobody installs a database's driver to upload a file. */
const checkInstalled = ({ _tag }: Place): Effect.Effect<void, InvalidInput> =>
  Effect.suspend(() => {
    const problem = BulkInstalled.problem(createRequire(import.meta.url), _tag)
    return problem === undefined ? Effect.void : invalid("bulk", problem)
  })

const checkWords = (
  { action, job, path }: Options,
  words: ReadonlyArray<string>
): Effect.Effect<ActionName, InvalidInput> => {
  if (!isAction(action)) {
    return invalid(action, `no such action of bulk${question(action, Object.keys(actions))} See stevedore help bulk`)
  }
  const strange = Arguments.optionsOf(words).map(Arguments.nameOf).find((word) => isForAnother(action, word))
  if (strange !== undefined) return invalid(strange, `means nothing to bulk ${action}: see stevedore help bulk`)
  const wanted = jobOf(action)
  if (wanted === "needed" && Option.isNone(job)) return invalid("JOB", `bulk ${action} needs the name of a job`)
  if (wanted === "none" && Option.isSome(job)) return invalid(job.value, `bulk ${action} takes no job`)
  return action !== "start" && Option.isSome(path)
    ? invalid(path.value, `bulk ${action} takes no path`)
    : Effect.succeed(action)
}

/**
 * Does what the action says.
 *
 * @since 0.1.0
 * @category programs
 */
export const run = (
  options: Options
): Effect.Effect<
  void,
  InvalidInput | SourceError | JobFailed | DatabaseFailed | OutputFailed,
  Output | FileSystem.FileSystem | Path.Path
> =>
  Effect.gen(function*() {
    const action = yield* checkWords(options, yield* CommandWords)
    const where = yield* place(options)
    yield* checkInstalled(where)
    const { perform } = yield* Effect.promise(() => import("./internal/bulkRun.js"))
    yield* perform(action, where, options)
  })
