import { Chance } from "./Chance.js"
import type { CallTrouble, PutTrouble } from "./Faults.js"
import type { Exchange, History, Moment, Operation } from "./History.js"
import { Machine, Process, type Stop } from "./Process.js"
import type { Risk, Scenario } from "./Scenario.js"
import { Timeline } from "./Timeline.js"

export const beginning = Date.UTC(2030, 0, 1)

export const token = "api.t0kenOfTheSimulation"

/** Stands in every signature, and must stand nowhere else. */
export const signatureMark = "5ecre7s1gna7ure"

export const serviceOrigin = "https://service.test"

export const storageOrigin = "https://bucket.storage.test"

const emptyHistory = (): History => ({
  exchanges: [],
  writes: [],
  sessions: new Map(),
  runs: [],
  lives: [],
  versions: new Map(),
  checks: [],
  reads: [],
  printed: [],
  held: [],
  troubles: new Map(),
  jumps: [],
  locks: [],
  entries: []
})

/** What all parts of a history share: time, the computer with the process that runs now, chance, and what is written down. */
export class World {
  readonly timeline = new Timeline(beginning)
  readonly machine: Machine
  readonly history = emptyHistory()
  readonly chance: Chance
  process: Process
  private steps = 0
  /** When something happened last. */
  lastAt = beginning
  private readonly happened = new Map<Risk<unknown>, number>()
  /** Everything that is on its way. */
  readonly open = new Set<Exchange>()

  constructor(readonly scenario: Scenario) {
    this.machine = new Machine(this.timeline, scenario.skew)
    this.process = this.newProcess(0, undefined)
    this.chance = new Chance(scenario.seed ^ 0x5bd1e995)
  }

  /** True time, which is the servers' too. */
  get now(): number {
    return this.timeline.now
  }

  get sinceBeginning(): number {
    return this.timeline.now - beginning
  }

  /** Where the history stands, without a step of its own. */
  get present(): Moment {
    return { step: this.steps, at: this.timeline.now }
  }

  /** Something happens. The process may be killed by then, or just at this. */
  moment(): Moment {
    this.steps++
    this.lastAt = this.timeline.now
    this.process.step()
    return { step: this.steps, at: this.timeline.now }
  }

  private newProcess(life: number, stop: Stop | undefined): Process {
    return new Process(this.timeline, this.machine, life, stop, (process) => {
      this.process = process
    })
  }

  beginLife(life: number, stop: Stop | undefined): Process {
    this.process = this.newProcess(life, stop)
    return this.process
  }

  /** The number of the life that runs now. */
  get life(): number {
    return this.process.life
  }

  /** After so many steps of the present life. */
  afterSteps(count: number, run: () => void): void {
    this.process.afterSteps(count, run)
  }

  met(trouble: string): void {
    this.history.troubles.set(trouble, (this.history.troubles.get(trouble) ?? 0) + 1)
  }

  private draw<Trouble extends string>(risks: ReadonlyArray<Risk<Trouble>>, isAtTheEnd: boolean): Trouble | undefined {
    for (const risk of risks) {
      if (risk.isAtTheEnd === true && !isAtTheEnd) continue
      const count = this.happened.get(risk) ?? 0
      if (count < risk.most && this.chance.happens(risk.probability)) {
        this.happened.set(risk, count + 1)
        return risk.trouble
      }
    }
    return undefined
  }

  private isIn(windows: Scenario["storms"]): boolean {
    return windows.some(({ from, to }) => this.sinceBeginning >= from && this.sinceBeginning < to)
  }

  putTrouble(): PutTrouble | undefined {
    if (this.isIn(this.scenario.outages)) return "connection refused"
    if (this.isIn(this.scenario.storms)) return "503 SlowDown"
    return this.draw(this.scenario.put, false)
  }

  callTrouble(operation: Operation): CallTrouble | undefined {
    if (this.isIn(this.scenario.outages)) return "connection refused"
    return this.draw(this.scenario.call, operation === "complete" || operation === "completeLarge")
  }

  end(exchange: Exchange, by: "answer" | "break" | "client" | "kill"): void {
    if (exchange.ended !== undefined) return
    exchange.ended = { ...this.moment(), by }
    this.open.delete(exchange)
  }

  print(where: string, text: string): void {
    this.history.printed.push({ where, text })
  }
}
