/**
 * What one upload shares across its sessions, parts and attempts.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { UploadMonitor } from "./monitor.js"
import * as Monitor from "./monitor.js"
import * as State from "./runState.js"

export type {
  /**
   * The state of a running upload, whether anybody watches it or not: all that its sessions, parts and attempts use.
   *
   * @since 0.1.0
   * @category models
   */
  UploadState
} from "./runState.js"

/**
 * The state of a running upload, for the engine.
 *
 * @since 0.1.0
 * @category models
 */
export interface UploadRun extends State.UploadState {
  readonly monitor: UploadMonitor
}

/**
 * The state of an upload of this size that is about to start, with at most `concurrency` parts in flight. The retry
 * policy and the timeouts in force apply to all of it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (size: number, concurrency: number): Effect.Effect<UploadRun> =>
  Effect.flatMap(Monitor.make(size), (monitor) => State.make(monitor, concurrency))

/**
 * Stops everything in flight until {@link resume}. No call to the service is repeated because of it: a completion under
 * way finishes.
 *
 * @since 0.1.0
 * @category control
 */
export const pause = ({ transferSwitch }: UploadRun): Effect.Effect<void> => transferSwitch.turnOff

/**
 * Continues after {@link pause}.
 *
 * @since 0.1.0
 * @category control
 */
export const resume = ({ transferSwitch }: UploadRun): Effect.Effect<void> => transferSwitch.turnOn

/**
 * Like {@link pause} for as long as the scope is open: {@link resume} does not end it, and it does not end a pause.
 *
 * @since 0.1.0
 * @category control
 */
export const pauseScoped = ({ transferSwitch }: UploadRun): Effect.Effect<void, never, Scope.Scope> =>
  transferSwitch.holdOff
