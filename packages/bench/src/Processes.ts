/** The processes of a measurement: helpers that live as long as a scope, and contenders that are measured. */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { ChildProcess } from "node:child_process"
import { execFile, fork, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import type { Counted, Told } from "./Told.js"
import * as Tolds from "./Told.js"

export class ContenderFailed extends Data.TaggedError("ContenderFailed")<{ readonly message: string }> {}

const next = (child: ChildProcess): Effect.Effect<Told, ContenderFailed> =>
  Effect.async((resume) => {
    const ended = (code: number | null) =>
      resume(Effect.fail(new ContenderFailed({ message: `${child.spawnfile} ended with ${code}` })))
    child.once("exit", ended)
    child.once("message", (message) => {
      child.off("exit", ended)
      resume(Effect.mapError(Tolds.decode(message), () => new ContenderFailed({ message: "Not understood" })))
    })
  })

const helper = (
  program: string,
  words: ReadonlyArray<string | number>
): Effect.Effect<{ readonly child: ChildProcess; readonly port: number }, ContenderFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        fork(program, words.map(String), { execArgv: [], stdio: ["ignore", "inherit", "inherit", "ipc"] })
      ),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    const told = yield* next(child)
    return told._tag === "Listening"
      ? { child, port: told.port }
      : yield* new ContenderFailed({ message: `${program} does not listen` })
  })

export interface Sink {
  readonly origin: string
  readonly port: number
  /** What it counted since it was asked before. */
  readonly read: Effect.Effect<Counted, ContenderFailed>
}

export interface Certificate {
  readonly key: string
  readonly cert: string
}

/** A certificate of its own for 127.0.0.1, by openssl. */
export const certificate = (folder: string): Effect.Effect<Certificate> =>
  Effect.promise(async () => {
    const key = join(folder, "key.pem")
    const cert = join(folder, "cert.pem")
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    await promisify(execFile)("openssl", ["req", "-x509", ...curve, ...subject, "-keyout", key, "-out", cert])
    return { key, cert }
  })

/** How the sink is reached, and how long it takes over each PUT to storage. */
export interface SinkOptions {
  readonly certificate?: Certificate | undefined
  readonly putTakes?: Duration.Duration | undefined
}

/** The sink in a process of its own, until the scope ends. */
export const sink = (
  programs: string,
  { certificate, putTakes = Duration.zero }: SinkOptions = {}
): Effect.Effect<Sink, ContenderFailed, Scope.Scope> =>
  Effect.map(
    helper(join(programs, "sink/main.mjs"), [
      Duration.toMillis(putTakes),
      ...(certificate === undefined ? [] : [certificate.key, certificate.cert])
    ]),
    ({ child, port }) => ({
      port,
      origin: `${certificate === undefined ? "http" : "https"}://127.0.0.1:${port}`,
      read: Effect.filterOrFail(
        Effect.zipLeft(next(child), Effect.sync(() => child.send("read")), { concurrent: true }),
        (told) => told._tag === "Counted",
        () => new ContenderFailed({ message: "The sink has not counted" })
      )
    })
  )

/** The sandbox with a list of so many projects in a process of its own, until the scope ends: its origin. */
export const sandbox = (
  programs: string,
  projects: number,
  token: string
): Effect.Effect<string, ContenderFailed, Scope.Scope> =>
  Effect.map(
    helper(join(programs, "sandbox/main.mjs"), [projects, token]),
    ({ port }) => `http://127.0.0.1:${port}`
  )

export interface Line {
  readonly title: string
  readonly roundTrip: number
  readonly window: number
  /** Bytes a second. */
  readonly rate: number
}

/** A line in front of a server on loopback, until the scope ends: its origin. */
export const line = (
  programs: string,
  { rate, roundTrip, window }: Line,
  port: number
): Effect.Effect<string, ContenderFailed, Scope.Scope> =>
  Effect.map(
    helper(join(programs, "line/main.mjs"), [port, roundTrip, window, rate]),
    (line) => `http://127.0.0.1:${line.port}`
  )

/** One run of one contender. */
export interface Measured {
  /** Seconds from the start of the process to its end. */
  readonly wall: number
  /** Seconds of user and system time, of the whole process. */
  readonly cpu: number
  /** The most memory that was resident, in bytes. */
  readonly memory: number
  /** What it wrote. */
  readonly output: string
}

const ticksASecond = 100

/** Seconds of user and system time, of these fields of what the kernel says of a process. */
const cpuIn = (process: number | "self", first: number): number => {
  const fields = readFileSync(`/proc/${process}/stat`, "latin1").split(") ")[1]?.split(" ") ?? []
  return (Number(fields[first]) + Number(fields[first + 1])) / ticksASecond
}

/** Seconds of user and system time of a process that runs. */
export const cpuOf = (pid: number): number => cpuIn(pid, 11)

// The kernel adds a process to its parent's children when it has ended; nothing else may end meanwhile.
const childrenCpu = (): number => cpuIn("self", 13)

const memoryOf = (pid: number | undefined): number => {
  try {
    const [, kibibytes = "0"] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1")) ?? []
    return Number(kibibytes) * 1024
  } catch {
    // it has ended
    return 0
  }
}

const watchMemory = (child: ChildProcess, onPeak: (bytes: number) => void): Effect.Effect<never> =>
  Effect.forever(
    Effect.delay(Effect.sync(() => onPeak(memoryOf(child.pid))), Duration.millis(10))
  )

/** A program and its words. */
export interface Command {
  readonly program: string
  readonly words: ReadonlyArray<string | number>
  readonly env?: Readonly<Record<string, string>>
}

const longestRun = Duration.minutes(15)

/** A command in a process of its own, until the scope ends. */
export const started = (command: Command) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(command.program, command.words.map(String), {
        env: { ...process.env, ...command.env },
        stdio: ["ignore", "pipe", "pipe"]
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )

/** One of the processes that are measured together. */
export type Ran = Omit<Measured, "cpu">

const run = (command: Command): Effect.Effect<Ran, ContenderFailed> =>
  Effect.scoped(Effect.gen(function*() {
    const before = yield* Clock.currentTimeNanos
    const child = yield* started(command)
    let memory = 0
    const output: Array<string> = []
    child.stdout.on("data", (chunk) => output.push(String(chunk)))
    child.stderr.on("data", (chunk) => output.push(String(chunk)))
    yield* Effect.forkScoped(watchMemory(child, (bytes) => {
      memory = Math.max(memory, bytes)
    }))
    const [code, after] = yield* Effect.async<readonly [number | null, number]>((resume) => {
      child.once("close", (code) => resume(Effect.map(Clock.currentTimeNanos, (now) => [code, Number(now)])))
      child.once("error", (error) => {
        output.push(error.message)
        resume(Effect.succeed([null, 0]))
      })
    }).pipe(
      Effect.timeoutOption(longestRun),
      Effect.map(Option.getOrElse(() => [null, 0] as const))
    )
    if (code !== 0) {
      const words = [command.program, ...command.words].join(" ")
      return yield* new ContenderFailed({ message: `${words} ended with ${code}: ${output.join("").slice(-2000)}` })
    }
    return { wall: (after - Number(before)) / 1e9, memory, output: output.join("") }
  }))

/**
 * Runs commands at once, each to its end, which has to be a good one: each of them, and the seconds of user and system
 * time of all together. Nothing else may be run meanwhile.
 */
export const measureTogether = (
  commands: ReadonlyArray<Command>
): Effect.Effect<{ readonly cpu: number; readonly ran: ReadonlyArray<Ran> }, ContenderFailed> =>
  Effect.gen(function*() {
    const before = childrenCpu()
    const ran = yield* Effect.forEach(commands, run, { concurrency: "unbounded" })
    return { ran, cpu: childrenCpu() - before }
  })

/** Runs a command to its end, which has to be a good one. Nothing else may be run meanwhile. */
export const measure = (command: Command): Effect.Effect<Measured, ContenderFailed> =>
  Effect.gen(function*() {
    const before = childrenCpu()
    const ran = yield* run(command)
    return { ...ran, cpu: childrenCpu() - before }
  })
