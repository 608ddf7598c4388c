import type { Exchange, History, Moment, Run, Session, Version } from "../History.js"
import type { Scenario, SourceCase } from "../Scenario.js"
import type { Told } from "../Simulation.js"

export type Law = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13

export interface Violation {
  readonly law: Law
  readonly what: string
}

export const isBefore = (one: Moment, other: Moment): boolean => one.step < other.step

/** One history before the laws. */
export class Trial {
  readonly violations: Array<Violation> = []
  readonly scenario: Scenario
  readonly history: History

  constructor({ history, scenario }: Told) {
    this.history = history
    this.scenario = scenario
  }

  check(law: Law, holds: boolean, what: () => string): void {
    if (!holds) this.violations.push({ law, what: what() })
  }

  /** The clock of the client can be trusted, and nothing of it has changed. */
  get knowsTheTime(): boolean {
    return this.scenario.answersDate && this.history.jumps.length === 0
  }

  caseOf(name: string): SourceCase | undefined {
    return this.scenario.uploads.find(({ source }) => source.name === name)?.source
  }

  /** What this one upload sent and was told; nothing when another of the same name ran beside it. */
  exchangesOf(run: Run): ReadonlyArray<Exchange> | undefined {
    const isAlone = this.history.runs.every((other) =>
      other === run || other.name !== run.name || other.life !== run.life
    )
    return isAlone
      ? this.history.exchanges.filter(({ life, name }) => life === run.life && name === run.name)
      : undefined
  }

  /**
   * Tells apart what several uploads of one source sent in one life. The lock lets them follow each other, and the next
   * may try what the one before was refused, as the next life may.
   */
  turnOf({ life, name, started }: Exchange): string {
    const ended = this.history.runs.filter((run) =>
      run.life === life && run.name === name && run.settled !== undefined && isBefore(run.settled, started)
    )
    return `${life} ${ended.length}`
  }

  /** Whether a life can know what another was told of a part: who had lost the lock by then has not recorded it. */
  isKnownTo(life: number, { fileId, life: other, part }: Exchange, told: Moment): boolean {
    return other === life ||
      this.history.entries.some((entry) =>
        entry.life === other && isBefore(told, entry) && entry.key.endsWith(`/${fileId}-${part}`)
      )
  }

  sessionsOf(name: string): ReadonlyArray<Session> {
    return [...this.history.sessions.values()].filter((session) => session.name === name)
  }

  /** The versions of a source that were there between two moments. */
  versionsOf(name: string, from: Moment, until: Moment): ReadonlyArray<Version> {
    const versions = this.history.versions.get(name) ?? []
    return versions.filter((version, index) => {
      const next = versions[index + 1]
      return version.step <= until.step && (next === undefined || next.step >= from.step)
    })
  }
}

export const isInitiate = ({ operation }: Exchange): boolean =>
  operation === "initiate" || operation === "initiateLarge"

export const isComplete = ({ operation }: Exchange): boolean =>
  operation === "complete" || operation === "completeLarge"

export const isPut = ({ operation }: Exchange): boolean => operation === "put"
