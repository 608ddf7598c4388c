import { Cause, Exit, type Fiber, GlobalValue } from "effect"
import { Disk } from "./Disk.js"
import type { History, Life } from "./History.js"
import { Network } from "./Network.js"
import { Printing } from "./Printing.js"
import { Program } from "./Program.js"
import { ofSeed, type Scenario } from "./Scenario.js"
import { Servers } from "./Servers.js"
import { SimulatedSource } from "./Sources.js"
import { World } from "./World.js"

// Longer than any upload may wait for anything: who does nothing for so long is not going to
const longestSilence = 90 * 60_000

/** How long after the end of the last process the world goes on: what is late arrives. */
const aftermath = 20 * 60_000

/** One history: what happened, from the seed alone. */
class Simulation {
  readonly world: World
  private readonly disk: Disk
  private readonly network: Network
  private readonly program: Program
  private readonly sources = new Map<string, SimulatedSource>()

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

  private beginLife(index: number): Life {
    const { world } = this
    const remembered = index === 0 ? [] : this.disk.remembered()
    world.beginLife(this.scenario.lives[index]?.killAfter)
    for (const source of this.sources.values()) source.recover()
    this.troubleSources(world.life)
    this.jump(world.life)
    const life: Life = { number: world.life, started: world.moment(), remembered }
    world.history.lives.push(life)
    return life
  }

  private live(index: number): void {
    const { world } = this
    const life = this.beginLife(index)
    const { process } = world
    const fiber = process.fork(this.program.run)
    for (;;) {
      if (!process.runTasks()) {
        life.hangs = "it spins without end"
        break
      }
      if (!process.isAlive || fiber.unsafePoll() !== null) break
      if (world.pullTriggers()) continue
      if (!world.timeline.next(world.lastAt + longestSilence)) {
        life.hangs = process.waiting > 0 ? "it has done nothing for ninety minutes" : "it waits for nothing"
        break
      }
    }
    const exit = fiber.unsafePoll()
    if (exit !== null && Exit.isFailure(exit)) life.hangs = Cause.pretty(exit.cause)
    this.endLife(life)
    this.pass(index < this.scenario.lives.length - 1 ? this.scenario.lives[index]?.pause ?? 0 : aftermath)
  }

  private endLife(life: Life): void {
    const { world } = this
    const { process } = world
    if (process.isAlive) {
      life.left = {
        connections: world.open.size,
        waits: process.waiting,
        handles: [...this.sources.values()].reduce((sum, { handles }) => sum + handles, 0),
        locks: this.disk.locks
      }
    } else world.met("killed")
    life.ended = { ...world.moment(), by: process.isAlive ? "end" : "kill" }
    process.kill()
    for (const exchange of [...world.open]) world.end(exchange, "kill")
    for (const source of this.sources.values()) source.handles = 0
    this.disk.release()
  }

  /** Nothing of ours runs; the world goes on. */
  private pass(millis: number): void {
    const { timeline } = this.world
    const until = timeline.now + millis
    while (timeline.next(until)) { /* what happens has happened */ }
    timeline.now = Math.max(timeline.now, until)
  }

  run(): History {
    for (let index = 0; index < this.scenario.lives.length; index++) this.live(index)
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
