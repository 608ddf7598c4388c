/** What a topic of the benchmark is given, and what it brings. */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ContenderFailed } from "./Processes.js"

export interface Setting {
  /** Runs of each contender. */
  readonly runs: number
  /** In bytes, where one was given. */
  readonly size: number | undefined
  /** Whether the large sizes are measured too, up to 10 GB. */
  readonly full: boolean
  /** Where the bundled programs are. */
  readonly programs: string
  /** A folder for files, which goes with the run. */
  readonly folder: string
}

/** A goal as a ratio or a figure that should not be exceeded, unless more is better. */
export interface Goal {
  readonly title: string
  readonly safe: number
  readonly aim: number
  readonly measured: number
  readonly moreIsBetter?: boolean
}

export interface Section {
  readonly title: string
  /** What was measured, and under which conditions. */
  readonly conditions: string
  readonly body: string
  readonly goals: ReadonlyArray<Goal>
}

export interface Topic {
  readonly name: string
  readonly run: (setting: Setting) => Effect.Effect<Section, ContenderFailed, Scope.Scope>
}
