import { Deferred, Effect, Exit, Mailbox, Schedule, type Scope, type Stream } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { createRequire } from "node:module"
import { fileURLToPath, pathToFileURL } from "node:url"

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** The command as a user has it: from source, or with TEST_DIST=1 what `npm run build` made. */
const command = process.env.TEST_DIST === "1"
  ? [path("../../bin/stevedore.cjs")]
  : ["--import", pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href, path("../../src/bin.ts")]

/** What a program that starts it by itself runs. */
export const words: ReadonlyArray<string> = [process.execPath, ...command]

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly child: ChildProcess
  /** The lines of standard output, as they come. */
  readonly lines: Stream.Stream<string>
  readonly ended: Effect.Effect<Ended>
}

export interface Options {
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
}

const environment = (more: Options["env"]) => ({
  PATH: process.env.PATH,
  XDG_STATE_HOME: process.env.XDG_STATE_HOME,
  XDG_CACHE_HOME: process.env.XDG_CACHE_HOME,
  TSX_TSCONFIG_PATH: path("../../../../tsconfig.json"),
  ...more
})

// a group of its own: whatever it starts can be found, and ended with it
const kill = (child: ChildProcess, signal: NodeJS.Signals | 0): boolean => {
  try {
    return child.pid !== undefined && process.kill(-child.pid, signal)
  } catch {
    return false
  }
}

/**
 * Whether all of it has ended. Run from source, it has a compiler in a process of its own, which notices a moment later
 * that the command is gone.
 */
export const isGone = (child: ChildProcess): Effect.Effect<boolean> => {
  const look = Effect.sync(() => !kill(child, 0))
  return Effect.zipRight(
    Effect.repeat(look, { schedule: Schedule.spaced("20 millis"), times: 250, until: (gone) => gone }),
    look
  )
}

export const start = (args: ReadonlyArray<string>, options: Options = {}): Effect.Effect<Running, never, Scope.Scope> =>
  Effect.gen(function*() {
    const ended = yield* Deferred.make<Ended>()
    const lines = yield* Mailbox.make<string>()
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, [...command, ...args], {
          cwd: options.cwd,
          env: environment(options.env),
          stdio: ["ignore", "pipe", "pipe"],
          detached: true
        })
      ),
      (one) => Effect.sync(() => kill(one, "SIGKILL"))
    )
    let stdout = ""
    let stderr = ""
    let rest = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text
      const [last = "", ...whole] = `${rest}${text}`.split("\n").reverse()
      rest = last
      lines.unsafeOfferAll(whole.reverse())
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text
    })
    child.on("close", (code) => {
      Deferred.unsafeDone(ended, Effect.succeed({ code, stdout, stderr }))
      lines.unsafeDone(Exit.void)
    })
    return { child, lines: Mailbox.toStream(lines), ended: Deferred.await(ended) }
  })

export const run = (args: ReadonlyArray<string>, options: Options = {}): Effect.Effect<Ended> =>
  Effect.scoped(Effect.flatMap(start(args, options), ({ ended }) => ended))

export const interrupt = ({ child, ended }: Running, signal: NodeJS.Signals = "SIGINT"): Effect.Effect<Ended> =>
  Effect.zipRight(Effect.sync(() => kill(child, signal)), ended)
