import { Uploads } from "@stevedore/core"
import { Cause, Effect, Exit, type Fiber, GlobalValue } from "effect"
import { Disk } from "./Disk.js"
import type { History, Life } from "./History.js"
import { Network } from "./Network.js"
import { Printing } from "./Printing.js"
import type { Process } from "./Process.js"
import { Program } from "./Program.js"
import { ofSeed, type Scenario } from "./Scenario.js"
import { Servers } from "./Servers.js"
import { SimulatedSource } from "./Sources.js"
import { World } from "./World.js"

await Effect.runPromise(Uploads.loaded)

// Longer than any upload may wait for anything: who does nothing for so long is not going to
const longestSilence = 90 * 60_000

/** How long after the end of the last process the world goes on: what is late arrives. */
const aftermath = 20 * 60_000

/** A life that has not ended. */
interface Active {
  readonly life: Life
  readonly process: Process
  readonly fiber: Fiber.RuntimeFiber<void>
}

/** One history: what happened, from the seed alone. */
class Simulation {
  readonly world: World
  private readonly disk: Disk
  private readonly network: Network
  private readonly program: Program
  private readonly sources = new Map<string, SimulatedSource>()
  private readonly active = new Set<Active>()

  constructor(readonly scenario: Scenario) {
    this.world = new World(scenario)
    this.disk = new Disk(this.world)
    this.network = new Network(this.world, new Servers(this.world), (name) => this.sources.get(name))
    for (const [index, { source }] of scenario.uploads.entries()) {
      if (!this.sources.has(source.name)) {
        this.sources.set(source.name, new SimulatedSource(this.world, source, scenario.seed % 1000 + index))
      }
    }
    this.program = new Program(this.world, this.network, this.disk, new Printing(this.world), this.sources)
  }

  private troubleSources(life: number): void {
    for (const [, source] of this.sources) {
      const { trouble } = source.given
      if (trouble?.life !== life || source.given.kind !== "file") continue
      if (trouble.afterSteps === 0) source.change(trouble.kind)
      else this.world.afterSteps(trouble.afterSteps, () => source.change(trouble.kind))
    }
  }

  private jump(life: number): void {
    const { world } = this
    for (const jump of this.scenario.jumps) {
      if (jump.life !== life) continue
      world.afterSteps(jump.afterSteps, () => {
        world.met(jump.isSleep ? "computer slept" : "wall clock jumped")
        world.history.jumps.push({ ...world.moment(), millis: jump.millis, slept: jump.isSleep })
        if (!jump.isSleep) {
          world.machine.wallOffset += jump.millis
          return
        }
        this.network.cut()
        world.process.sleep(jump.millis)
        world.timeline.after(jump.millis, () => {
          world.moment()
        })
      })
    }
  }

  private beginLife(index: number): Active {
    const { world } = this
    const remembered = index === 0 ? [] : this.disk.remembered()
    const process = world.beginLife(index + 1, this.scenario.lives[index]?.stop)
    for (const source of this.sources.values()) source.recover()
    this.troubleSources(process.life)
    this.jump(process.life)
    const life: Life = { number: process.life, started: world.moment(), remembered }
    world.history.lives.push(life)
    const active = { life, process, fiber: process.fork(this.program.run) }
    this.active.add(active)
    return active
  }

  private get awake(): ReadonlyArray<Active> {
    return [...this.active].filter(({ process }) => process.isAwake)
  }

  /** Lets everybody who is awake go on until this life is over, or frozen. */
  private live(one: Active): void {
    const { timeline } = this.world
    while (this.active.has(one) && !one.process.isFrozen) {
      for (const active of [...this.active]) this.goOn(active)
      if (!this.active.has(one) || one.process.isFrozen) break
      if (this.awake.some(({ process }) => process.pullTriggers())) continue
      if (timeline.next(this.world.lastAt + longestSilence)) continue
      for (const active of this.awake) {
        const hangs = active.process.waiting > 0 ? "it has done nothing for ninety minutes" : "it waits for nothing"
        this.endLife(active, hangs)
      }
    }
  }

  private goOn(active: Active): void {
    const { fiber, process } = active
    if (process.isFrozen) return
    if (!process.runTasks()) return this.endLife(active, "it spins without end")
    const exit = fiber.unsafePoll()
    if (process.isAlive && exit === null) return
    this.endLife(active, exit !== null && Exit.isFailure(exit) ? Cause.pretty(exit.cause) : undefined)
  }

  // By the end of the pause, others have taken it for dead
  private freeze({ life, process }: Active): void {
    const { world } = this
    world.met("frozen")
    life.frozen = world.moment()
    if (this.scenario.thaw?.isCut === true) this.network.cut(process.life)
    this.disk.release(process.life)
  }

  private thaw({ life, process }: Active): void {
    const { world } = this
    if (!process.isFrozen) return
    if (world.process.isAlive) world.met("a frozen life went on beside the one that took over")
    process.thaw()
    const millis = world.now - (life.frozen?.at ?? world.now)
    world.history.jumps.push({ ...world.moment(), ...life.frozen, millis, slept: true })
  }

  private endLife(active: Active, hangs: string | undefined): void {
    const { world } = this
    const { life, process } = active
    this.active.delete(active)
    if (hangs !== undefined) life.hangs = hangs
    const open = [...world.open].filter((exchange) => exchange.life === process.life)
    if (process.isAlive) {
      life.left = {
        connections: open.length,
        waits: process.waiting,
        handles: [...this.sources.values()].reduce((sum, source) => sum + source.handlesOf(process.life), 0),
        locks: this.disk.locksOf(process.life)
      }
    } else world.met("killed")
    life.ended = { ...world.moment(), by: process.isAlive ? "end" : "kill" }
    process.kill()
    for (const exchange of open) world.end(exchange, "kill")
    this.disk.release(process.life)
  }

  /** Nothing of ours runs; the world goes on. */
  private pass(millis: number): void {
    const { timeline } = this.world
    const until = timeline.now + millis
    while (timeline.next(until)) { /* what happens has happened */ }
    timeline.now = Math.max(timeline.now, until)
  }

  run(): History {
    const { lives } = this.scenario
    for (const [index, { pause }] of lives.entries()) {
      const frozen = [...this.active]
      const one = this.beginLife(index)
      for (const other of frozen) one.process.afterSteps(this.scenario.thaw?.afterSteps ?? 0, () => this.thaw(other))
      this.live(one)
      for (const other of frozen) {
        this.thaw(other)
        this.live(other)
      }
      if (one.process.isFrozen) this.freeze(one)
      this.pass(index < lives.length - 1 ? pause : aftermath)
    }
    return this.world.history
  }
}

export interface Told {
  readonly scenario: Scenario
  readonly history: History
}

// Where Effect keeps each fiber without a parent until it ends
const { roots } = GlobalValue.globalValue(
  Symbol.for("effect/FiberScope/Global"),
  (): { readonly roots: Set<Fiber.RuntimeFiber<unknown, unknown>> } => ({ roots: new Set() })
)

// What a killed process leaves never ends: its fibers would be kept for ever, each with its whole history, and so would
// the interval by which Effect keeps a thread open for an effect that never ends. Nothing here waits for real time.
const leavingNothing = <A>(body: () => A): A => {
  const { setInterval } = globalThis
  const before = new Set(roots)
  Object.assign(globalThis, { setInterval: () => 0 })
  try {
    return body()
  } finally {
    Object.assign(globalThis, { setInterval })
    for (const fiber of roots) if (!before.has(fiber)) roots.delete(fiber)
  }
}

/** Runs the history of a seed. */
export const run = (seed: number): Told => {
  const scenario = ofSeed(seed)
  // To say where it was made costs more than all else of an error, and nobody reads it of most
  Error.stackTraceLimit = scenario.isPrinted ? 10 : 0
  return leavingNothing(() => ({ scenario, history: new Simulation(scenario).run() }))
}
