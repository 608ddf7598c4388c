/** What one upload shares across its sessions, parts and attempts. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { UploadMonitor } from "./monitor.js"
import * as Monitor from "./monitor.js"
import * as State from "./runState.js"

export type {
  /**
   * The state of a running upload, whether anybody watches it or not: all that its sessions, parts and attempts use.
   */
  UploadState
} from "./runState.js"

/** The state of a running upload, for the engine. */
export interface UploadRun extends State.UploadState {
  readonly monitor: UploadMonitor
}

/**
 * The state of an upload of this size that is about to start, with at most `concurrency` parts in flight. The retry
 * policy and the timeouts in force apply to all of it.
 */
export const make = (size: number, concurrency: number): Effect.Effect<UploadRun> =>
  Effect.flatMap(Monitor.make(size), (monitor) => State.make(monitor, concurrency))

/**
 * Stops everything in flight until {@link resume}. No call to the service is repeated because of it: a completion under
 * way finishes.
 */
export const pause = ({ transferSwitch }: UploadRun): Effect.Effect<void> => transferSwitch.turnOff

/** Continues after {@link pause}. */
export const resume = ({ transferSwitch }: UploadRun): Effect.Effect<void> => transferSwitch.turnOn

/** Like {@link pause} for as long as the scope is open: {@link resume} does not end it, and it does not end a pause. */
export const pauseScoped = ({ transferSwitch }: UploadRun): Effect.Effect<void, never, Scope.Scope> =>
  transferSwitch.holdOff
