/**
 * `stevedore upload`: files go up one after the other, and one that fails does not stop the rest.
 *
 * @since 0.1.0
 */
import type { UploadError } from "@stevedore/core/UploadError"
import type { UploadOptions } from "@stevedore/core/UploadOptions"
import * as Uploads from "@stevedore/core/Uploads"
import * as FileSource from "@stevedore/node/FileSource"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Configuration from "./Configuration.js"
import * as ExitCode from "./ExitCode.js"
import { InvalidInput } from "./InvalidInput.js"
import * as Measure from "./Measure.js"
import { Output, type OutputFailed } from "./Output.js"
import * as Printable from "./Printable.js"
import * as ProgressBar from "./ProgressBar.js"
import * as Reports from "./Reports.js"
import * as UploadPaths from "./UploadPaths.js"

/**
 * What the command takes; what is left out is as in `Uploads`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends Configuration.Given {
  /** Files, and directories whose files go up. */
  readonly paths: ReadonlyArray<string>
  readonly strategy: "auto" | "single" | "multipart"
  readonly parts: Option.Option<number>
  readonly concurrency: number
  readonly mediaType: Option.Option<string>
  readonly name: Option.Option<string>
  /** Whether what was cut off begins anew. */
  readonly noResume: boolean
  readonly json: boolean
}

/**
 * Some files did not go up. Each was told when it failed.
 *
 * @since 0.1.0
 * @category errors
 */
export class UploadsFailed extends Schema.TaggedError<UploadsFailed>("@stevedore/cli/UploadsFailed")("UploadsFailed", {
  failed: Schema.Int,
  files: Schema.Int,
  /** Whether the service does not accept the token. */
  unauthorized: Schema.Boolean
}) {
  /**
   * @since 0.1.0
   */
  get exitCode(): number {
    return this.unauthorized ? ExitCode.unauthorized : ExitCode.failed
  }
  override get message(): string {
    return `${this.failed} of ${this.files} ${this.files === 1 ? "file" : "files"} did not go up. ` +
      "Run the command again with these alone, after what is told above."
  }
}

interface Uploaded {
  readonly file: Uploads.UploadedFile
  readonly took: Duration.Duration
}

const everySecond = Schedule.spaced("1 second")

const everyFiveSeconds = Schedule.spaced("5 seconds")

const watch = (path: string, json: boolean, progress: Uploads.UploadHandle["progress"]) =>
  Effect.gen(function*() {
    const output = yield* Output
    const columns = yield* output.columns
    const shown = Option.isSome(columns)
      ? Stream.runForEach(progress.changes, (now) =>
        Effect.flatMap(output.columns, (width) =>
          // the last column stays free: a cursor that wraps leaves a line behind
          output.status(ProgressBar.render(now, Option.getOrElse(width, () => 80) - 1))))
      : json
      ? Effect.void
      : progress.changes.pipe(
        Stream.schedule(everyFiveSeconds),
        Stream.filter((now) => now.phase === "uploading"),
        Stream.runForEach((now) => output.note(`${path}: ${ProgressBar.plain(now)}`))
      )
    const reported = json
      ? progress.changes.pipe(
        Stream.schedule(everySecond),
        Stream.runForEach((now) => Effect.ignore(output.json([Reports.progress(path, now)])))
      )
      : Effect.void
    yield* Effect.all([shown, reported], { concurrency: 2, discard: true })
  })

const uploadOne = (
  path: string,
  options: Options
): Effect.Effect<Uploaded, UploadError, Output | Uploads.Requirements> =>
  Effect.scoped(Effect.gen(function*() {
    const output = yield* Output
    const source = yield* FileSource.fromPath(path, {
      name: Option.getOrUndefined(options.name),
      mediaType: Option.getOrUndefined(options.mediaType)
    })
    const startedAt = yield* Clock.currentTimeMillis
    const wishes: UploadOptions = {
      strategy: options.strategy,
      parts: Option.getOrUndefined(options.parts),
      concurrency: options.concurrency,
      resume: !options.noResume
    }
    const upload = yield* Uploads.start(source, wishes)
    const watcher = yield* Effect.forkScoped(watch(path, options.json, upload.progress))
    const file = yield* Effect.ensuring(upload.await, Effect.zipRight(Fiber.interrupt(watcher), output.status("")))
    const endedAt = yield* Clock.currentTimeMillis
    return { file, took: Duration.millis(endedAt - startedAt) }
  }))

const tellUploaded = (path: string, json: boolean, { file, took }: Uploaded) =>
  Effect.flatMap(Output, (output) => {
    if (json) return output.json([Reports.completed(path, file, took)])
    const { bytes } = file.sent
    return output.lines([Printable.columns([file.id, path])]).pipe(
      Effect.zipRight(
        output.note(`${path} is up: ${Measure.bytes(bytes)} in ${Measure.duration(took)}${Measure.pace(bytes, took)}`)
      )
    )
  })

const tellFailed = (path: string, json: boolean, error: UploadError) =>
  Effect.flatMap(Output, (output) =>
    Effect.zipRight(
      json ? output.json([Reports.failed(path, error)]) : Effect.void,
      output.note(`${path}: ${error.message}`)
    ))

const outcomeOf = (path: string, options: Options, before: Option.Option<UploadError>) =>
  // a token that was refused is not asked for the next file either
  Option.match(before, {
    onNone: () => Effect.either(uploadOne(path, options)),
    onSome: (refusal) => Effect.succeed(Either.left(refusal))
  })

const checkFiles = (options: Options, files: ReadonlyArray<string>): Effect.Effect<void, InvalidInput> => {
  if (files.length === 0) {
    return Effect.fail(new InvalidInput({ input: options.paths.join(", "), problem: "there is no file in it" }))
  }
  return Option.isSome(options.name) && files.length > 1
    ? Effect.fail(
      new InvalidInput({ input: "--name", problem: `it names one file, and there are ${files.length}: leave it out` })
    )
    : Effect.void
}

// A reader of the results that went away does not stop the uploads: what counts is the files.
const ignoreClosed = <R>(telling: Effect.Effect<void, OutputFailed, R>): Effect.Effect<void, OutputFailed, R> =>
  Effect.catchAll(telling, (failure) => failure.closed ? Effect.void : Effect.fail(failure))

const uploadAll = (files: ReadonlyArray<string>, options: Options) =>
  Effect.gen(function*() {
    let refusal: Option.Option<UploadError> = Option.none()
    let failed = 0
    for (const path of files) {
      const outcome = yield* outcomeOf(path, options, refusal)
      if (Either.isRight(outcome)) {
        yield* ignoreClosed(tellUploaded(path, options.json, outcome.right))
        continue
      }
      failed += 1
      if (outcome.left._tag === "Unauthorized") refusal = Option.some(outcome.left)
      yield* ignoreClosed(tellFailed(path, options.json, outcome.left))
    }
    if (failed > 0) {
      return yield* new UploadsFailed({ failed, files: files.length, unauthorized: Option.isSome(refusal) })
    }
  })

const tellHowToGoOn = ({ noResume }: Options) =>
  Effect.flatMap(Output, (output) =>
    noResume
      ? Effect.void
      : output.note("Run the same command again: what was cut off goes on where storage had got to."))

/**
 * Uploads what was named, and fails at the end when some of it did not go up.
 *
 * @since 0.1.0
 * @category programs
 */
export const run = (options: Options) =>
  Effect.gen(function*() {
    const files = yield* UploadPaths.expand(options.paths)
    yield* checkFiles(options, files)
    yield* Effect.onInterrupt(uploadAll(files, options), () => tellHowToGoOn(options))
  }).pipe(Effect.provide(Configuration.layer(options)))
