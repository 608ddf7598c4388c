/** Who sends a request. The default asks a table of tokens; whoever has sessions of his own asks those. */
import type * as Headers from "@effect/platform/Headers"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as ServiceRefused from "./ServiceRefused.js"
import * as Tokens from "./Tokens.js"

/**
 * A client: its tenant, whose files it sees and no others, who it is there, and what it may do. `write` is for uploads,
 * `read` for everything else.
 *
 * @category models
 */
export interface Principal {
  readonly tenant: string
  readonly id: string
  readonly name: string
  readonly scopes: ReadonlyArray<Tokens.Scope>
}

/**
 * What says who sends a request, from its headers: a refusal is the answer.
 *
 * @category tags
 */
export class Authorize extends Context.Tag("@stevedore/server/Authorize")<
  Authorize,
  (headers: Headers.Headers) => Effect.Effect<Principal, ServiceRefused.ServiceRefused>
>() {}

const BEARER = /^Bearer +(\S+)$/i

/**
 * Bearer tokens that {@link Tokens.Tokens} knows.
 *
 * @category layers
 */
export const layerBearer: Layer.Layer<Authorize, never, Tokens.Tokens> = Layer.effect(
  Authorize,
  Effect.map(Tokens.Tokens, (tokens) => (headers) => {
    const [, token] = BEARER.exec(headers["authorization"] ?? "") ?? []
    const refused = Effect.suspend(() => ServiceRefused.make(401, "Unauthorized"))
    return token === undefined
      ? refused
      : Effect.flatMap(Effect.mapError(tokens.find(token), ServiceRefused.unavailable), (found) =>
        Option.match(found, {
          onNone: () => refused,
          onSome: ({ owner, scopes, tenant }) => Effect.succeed({ tenant, id: owner.id, name: owner.name, scopes })
        }))
  })
)
