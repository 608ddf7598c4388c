import { Clock, Duration, Effect, type Fiber, FiberRef, Runtime, RuntimeFlags, type Scheduler } from "effect"
import type { Timeline, Timer } from "./Timeline.js"

/** The clocks of a computer: its wall clock may be wrong and may jump, and both stand while it sleeps. */
export class Machine {
  /** Wall clock less true time. */
  wallOffset: number
  /** How long it has slept: its monotonic clock is behind by that. */
  slept = 0

  constructor(private readonly timeline: Timeline, skew: number) {
    this.wallOffset = skew
  }

  get wall(): number {
    return this.timeline.now + this.wallOffset
  }

  get monotonic(): number {
    return this.timeline.now - this.slept
  }
}

const quick = Runtime.defaultRuntime.pipe(
  Runtime.disableRuntimeFlag(RuntimeFlags.RuntimeMetrics),
  Runtime.setFiberRef(FiberRef.currentTracerEnabled, false)
)

// Many times what any upload of the simulation needs at one instant
const mostTasksAtOnce = 200_000

/** Something that a process waits for. */
export interface Wait {
  timer: Timer
  readonly run: () => void
  /** It is the system that waits, so it happens while the process is frozen. */
  readonly isOfSystem: boolean
}

/** What happens after some steps of a process. */
interface Trigger {
  readonly atStep: number
  readonly run: () => void
}

/** How a life ends before its program does. */
export interface Stop {
  readonly afterSteps: number
  readonly by: "kill" | "freeze"
}

/** One run of a program, from its start to its end or to the moment at which it is killed. Nothing outlives a kill. */
export class Process implements Scheduler.Scheduler {
  private tasks: Array<() => void> = []
  private readonly waits = new Set<Wait>()
  private triggers: ReadonlyArray<Trigger> = []
  private steps = 0
  private readonly overdue = new Set<Wait>()
  isAlive = true
  /** Nothing of it runs, and nobody can tell it from one that is dead. */
  isFrozen = false

  constructor(
    private readonly timeline: Timeline,
    private readonly machine: Machine,
    /** The number of its life, from 1; 0 before the first. */
    readonly life: number,
    private readonly stop: Stop | undefined,
    /** Makes it the one that runs now. */
    private readonly enter: (process: Process) => void
  ) {}

  get isAwake(): boolean {
    return this.isAlive && !this.isFrozen
  }

  /** Something happens to it, at which it may have to stop. */
  step(): void {
    if (!this.isAwake || this.life === 0) return
    this.steps++
    if (this.stop === undefined || this.steps !== this.stop.afterSteps) return
    if (this.stop.by === "kill") this.kill()
    else this.isFrozen = true
  }

  /** After so many of its steps. */
  afterSteps(count: number, run: () => void): void {
    this.triggers = [...this.triggers, { atStep: count, run }]
  }

  /** Runs what is due by its steps; false when nothing is. */
  pullTriggers(): boolean {
    if (this.triggers.length === 0) return false
    const due = this.triggers.filter(({ atStep }) => atStep <= this.steps)
    if (due.length === 0) return false
    this.triggers = this.triggers.filter(({ atStep }) => atStep > this.steps)
    this.enter(this)
    for (const { run } of due) run()
    return true
  }

  shouldYield(fiber: Fiber.RuntimeFiber<unknown, unknown>): number | false {
    return fiber.currentOpCount > 2048 ? 0 : false
  }

  scheduleTask(task: () => void): void {
    if (this.isAlive) this.tasks.push(task)
  }

  readonly clock: Clock.Clock = {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: () => this.machine.wall,
    unsafeCurrentTimeNanos: () => BigInt(Math.round(this.machine.monotonic * 1e6)),
    currentTimeMillis: Effect.sync(() => this.machine.wall),
    currentTimeNanos: Effect.sync(() => BigInt(Math.round(this.machine.monotonic * 1e6))),
    sleep: (duration) =>
      Effect.async<void>((resume) => {
        const wait = this.after(Duration.toMillis(duration), () => resume(Effect.void))
        return Effect.sync(() => this.cancel(wait))
      })
  }

  /** Does not happen when the process is dead by then. */
  after(millis: number, run: () => void, isOfSystem = false): Wait {
    const wait: Wait = { run, isOfSystem, timer: this.timeline.after(millis, () => this.end(wait)) }
    this.waits.add(wait)
    return wait
  }

  private end(wait: Wait): void {
    if (this.isFrozen && !wait.isOfSystem) {
      this.overdue.add(wait)
      return
    }
    this.waits.delete(wait)
    if (!this.isAlive) return
    this.enter(this)
    wait.run()
  }

  /** Goes on where it was frozen: what it waited for has come meanwhile. */
  thaw(): void {
    if (!this.isFrozen) return
    this.isFrozen = false
    for (const wait of this.overdue) {
      if (this.waits.has(wait)) wait.timer = this.timeline.after(0, () => this.end(wait))
    }
    this.overdue.clear()
  }

  cancel(wait: Wait): void {
    wait.timer.cancelled = true
    this.waits.delete(wait)
  }

  /** How many things it waits for. */
  get waiting(): number {
    return this.waits.size
  }

  /** The computer sleeps: what the process waits for comes so much later. */
  sleep(millis: number): void {
    this.machine.slept += millis
    for (const wait of this.waits) {
      wait.timer.cancelled = true
      wait.timer = this.timeline.after(wait.timer.due - this.timeline.now + millis, () => this.end(wait))
    }
  }

  fork<A, E>(effect: Effect.Effect<A, E>): Fiber.RuntimeFiber<A, E> {
    return Runtime.runFork(quick)(Effect.withClock(effect, this.clock), { scheduler: this })
  }

  /** Runs everything that waits for nothing; false when that has no end. */
  runTasks(): boolean {
    let count = 0
    this.enter(this)
    while (this.tasks.length > 0 && !this.isFrozen) {
      const tasks = this.tasks
      this.tasks = []
      for (const [index, task] of tasks.entries()) {
        if (!this.isAlive) return true
        if (this.isFrozen) {
          this.tasks = [...tasks.slice(index), ...this.tasks]
          return true
        }
        task()
        if (++count > mostTasksAtOnce) return false
      }
    }
    return true
  }

  kill(): void {
    this.isAlive = false
    this.tasks = []
    for (const { timer } of this.waits) timer.cancelled = true
    this.waits.clear()
  }
}
