import * as Effect from "effect/Effect"
import * as Identifiers from "../Identifiers.js"

// it is written into logs and headers as it is
const SANE = /^[\w.:-]{1,64}$/

/** The id of a request: what its client or a proxy gave, if that is sane, and a new one otherwise. */
export const requestIdOf = (given: string | undefined): Effect.Effect<string> =>
  given !== undefined && SANE.test(given) ? Effect.succeed(given) : Identifiers.requestId
