/** How long each phase of a request may go without progress. No HTTP client has useful timeouts of its own. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * How long each phase of a request may go without progress. Created by {@link make}.
 *
 * @category models
 */
export interface Limits {
  /** One attempt of a call to the service, including the body of the response. It begins once the rate limit allows it. */
  readonly call: Duration.Duration
  /** One call to the service over all its attempts and backoffs. Waits for the rate limit do not count. */
  readonly total: Duration.Duration
  /**
   * Until storage has taken the first bytes of a body; on Node, also until the connection for a call to the service or
   * a download is established.
   */
  readonly connect: Duration.Duration
  /** Without progress while a body is in transit, up or down, and while the Stream being uploaded produces nothing. */
  readonly stall: Duration.Duration
  /** From the last byte of a body to the response. Storage that encrypts and copies takes a while. */
  readonly answer: Duration.Duration
}

/**
 * What can be changed in the timeouts. What is omitted defaults to what {@link make} says.
 *
 * @category models
 */
export interface Options {
  readonly call?: Duration.DurationInput | undefined
  readonly total?: Duration.DurationInput | undefined
  readonly connect?: Duration.DurationInput | undefined
  readonly stall?: Duration.DurationInput | undefined
  readonly answer?: Duration.DurationInput | undefined
}

/**
 * The timeouts. Defaults to 60 seconds for one attempt of a call and 10 minutes for all of them, 30 seconds to connect,
 * 60 seconds without progress, and 2 minutes for the storage's response.
 *
 * @category constructors
 */
export const make = (options: Options = {}): Limits => ({
  call: Duration.decode(options.call ?? "60 seconds"),
  total: Duration.decode(options.total ?? "10 minutes"),
  connect: Duration.decode(options.connect ?? "30 seconds"),
  stall: Duration.decode(options.stall ?? "60 seconds"),
  answer: Duration.decode(options.answer ?? "2 minutes")
})

/**
 * The timeouts in force, read when an operation runs.
 *
 * @category references
 */
export class Timeouts extends Context.Reference<Timeouts>()<"@stevedore/core/Timeouts", Limits>(
  "@stevedore/core/Timeouts",
  { defaultValue: () => make() }
) {}

/**
 * Replaces the timeouts, for an application (provided to its layer) or for a single effect. Merged with a ready-made
 * layer, they count only if they come after it, because that layer has captured the timeouts in force.
 *
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<never> => Layer.succeed(Timeouts, make(options))

const withTimeouts = (options: Options) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, Timeouts, make(options))

export {
  /**
   * Replaces the timeouts for a single effect.
   *
   * @example
   * import { Timeouts, Uploads, UploadSources } from "@stevedore/core"
   *
   * const source = UploadSources.fromBytes("a.txt", new Uint8Array([1]))
   * const patient = Uploads.upload(source).pipe(Timeouts.with({ stall: "5 minutes" }))
   *
   * @category combinators
   */
  withTimeouts as with
}
