import { Listening } from "@stevedore/cli/Reports"
import { ConfigProvider, Context, Deferred, Effect, Exit, FiberId, Layer, Schema } from "effect"
import * as Program from "../../src/line/program.js"
import * as ExitCode from "../../src/print/exitCode.js"
import type { Sink } from "../../src/print/output.js"

export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export type Environment = Readonly<Record<string, string>>

export const sinkOf = (onText: (text: string) => void): Sink => ({
  isTTY: false,
  write: (text, written) => {
    onText(text)
    written()
    return true
  },
  on: () => {},
  off: () => {}
})

/** The whole program in this process, as far as it can be told from one of its own. */
const execute = (
  words: ReadonlyArray<string>,
  env: Environment,
  onOut: (text: string) => void,
  out = sinkOf(onOut),
  stop: Effect.Effect<never> = Effect.never
) =>
  Effect.gen(function*() {
    let stderr = ""
    const console = yield* Effect.console
    const exit = yield* Program.run({
      words,
      out,
      error: sinkOf((text) => {
        stderr += text
      })
    }).pipe(
      Effect.raceFirst(stop),
      Effect.withConsole({
        ...console,
        error: (...parts) =>
          Effect.sync(() => {
            stderr += `${parts.join(" ")}\n`
          })
      }),
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env)))),
      Effect.exit
    )
    return { code: ExitCode.ofExit(exit), stderr, exit }
  })

export const invoke = (words: ReadonlyArray<string>, env: Environment = {}, out?: Sink): Effect.Effect<Ended> =>
  Effect.suspend(() => {
    let stdout = ""
    return Effect.map(
      execute(words, env, (text) => {
        stdout += text
      }, out),
      ({ code, stderr }) => ({ code, stderr, stdout })
    )
  })

/** Runs the program until it writes what is so, which nobody reads, and interrupts it there. What it would have told. */
export const stoppedAt = (isSo: (text: string) => boolean, words: ReadonlyArray<string>, env: Environment) =>
  Effect.gen(function*() {
    const told = yield* Deferred.make<string>()
    const ended = execute(words, env, () => {}, {
      ...sinkOf(() => {}),
      write: (text, written) => {
        if (isSo(text)) Deferred.unsafeDone(told, Exit.succeed(text))
        else written()
        return true
      }
    })
    return yield* Effect.raceFirst(
      Deferred.await(told),
      Effect.flatMap(ended, ({ stderr }) => Effect.dieMessage(stderr))
    )
  })

/** Runs the program, and interrupts it as soon as it does something else after it has written what is so. */
export const stoppedAfter = (
  isSo: (text: string) => boolean,
  words: ReadonlyArray<string>,
  env: Environment
): Effect.Effect<Ended> =>
  Effect.gen(function*() {
    const stop = yield* Deferred.make<never>()
    let stdout = ""
    const onOut = (text: string) => {
      stdout += text
      if (isSo(text)) setImmediate(() => Deferred.unsafeDone(stop, Exit.interrupt(FiberId.none)))
    }
    const { code, stderr } = yield* execute(words, env, onOut, sinkOf(onOut), Deferred.await(stop))
    return { code, stderr, stdout }
  })

export const jsonLines = (text: string): ReadonlyArray<unknown> =>
  text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))

/** A sandbox that runs, and the environment of its clients. */
export class Sandbox extends Context.Tag("test/Sandbox")<Sandbox, { readonly env: Environment }>() {}

export const sandbox = (...more: ReadonlyArray<string>): Layer.Layer<Sandbox> =>
  Layer.scoped(
    Sandbox,
    Effect.gen(function*() {
      const first = yield* Deferred.make<string>()
      const words = ["sandbox", "--port", "0", "--json", ...more]
      yield* execute(words, {}, (text) => Deferred.unsafeDone(first, Exit.succeed(text))).pipe(
        Effect.flatMap(({ stderr }) => Deferred.die(first, new Error(stderr))),
        Effect.forkScoped
      )
      const { api, token } = yield* Schema.decode(Schema.parseJson(Listening))(yield* Deferred.await(first))
      return { env: { STEVEDORE_BASE_URL: api, STEVEDORE_TOKEN: token } }
    }).pipe(Effect.orDie)
  )
