/** The tokens that a service accepts. A token is shown once, when it is made; what is kept is its SHA-256. */
import { Sha256 } from "@aws-crypto/sha256-js"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { TableFailed } from "./FileTable.js"
import * as Identifiers from "./parts/identifiers.js"

/**
 * What a token allows: `read` for records, lists and downloads, `write` for uploads and removals.
 *
 * @category models
 */
export const Scope = Schema.Literal("read", "write")

/** @category models */
export type Scope = typeof Scope.Type

const TENANT = /^[A-Za-z0-9][\w.-]{0,63}$/

/**
 * Whether a tenant may have this name: at most 64 letters, digits, dots, hyphens and underscores, of which the first is a letter
 * or a digit. It is part of keys and paths.
 *
 * @category predicates
 */
export const isTenant = (name: string): boolean => TENANT.test(name)

/**
 * No tenant may have this name: see {@link isTenant}.
 *
 * @category errors
 */
export class TenantInvalid extends Schema.TaggedError<TenantInvalid>("@stevedore/server/TenantInvalid")(
  "TenantInvalid",
  { tenant: Schema.String }
) {
  override get message(): string {
    return "A tenant's name has at most 64 letters, digits, dots, hyphens and underscores, and begins with a letter or a digit"
  }
}

/**
 * What is kept of a token. `id` names it to whoever administers the service. Times are in milliseconds of the Unix epoch.
 *
 * @category models
 */
export interface TokenRecord {
  readonly id: string
  readonly tenant: string
  readonly owner: { readonly id: string; readonly name: string }
  readonly scopes: ReadonlyArray<Scope>
  readonly createdAt: number
  readonly expiresAt: number | undefined
}

/**
 * A table of tokens, by the SHA-256 of each.
 *
 * @category models
 */
export interface TokensService {
  /** The record of a token that is known and has not expired. */
  readonly find: (token: string) => Effect.Effect<Option.Option<TokenRecord>, TableFailed>
  readonly add: (hash: string, record: TokenRecord) => Effect.Effect<void, TableFailed>
  /** All of them, the oldest first. */
  readonly list: Effect.Effect<ReadonlyArray<TokenRecord>, TableFailed>
  /** False if there is no token of this id. */
  readonly revoke: (id: string) => Effect.Effect<boolean, TableFailed>
}

/**
 * The service tag of the table.
 *
 * @category tags
 */
export class Tokens extends Context.Tag("@stevedore/server/Tokens")<Tokens, TokensService>() {}

/**
 * The SHA-256 of a token, in hexadecimal digits.
 *
 * @category combinators
 */
export const hashOf = (token: string): string => {
  const hash = new Sha256()
  hash.update(token)
  return Encoding.encodeHex(hash.digestSync())
}

/**
 * Makes a token and keeps its record: `api.` and 43 characters of Base62, which is all that anybody is ever shown of it.
 * `lifetime` defaults to 30 days (service contract).
 *
 * @category constructors
 */
export const create = (options: {
  readonly tenant: string
  readonly owner: { readonly id: string; readonly name: string }
  readonly scopes?: ReadonlyArray<Scope> | undefined
  readonly lifetime?: Duration.DurationInput | undefined
}): Effect.Effect<
  { readonly token: Redacted.Redacted; readonly record: TokenRecord },
  TableFailed | TenantInvalid,
  Tokens
> =>
  Effect.gen(function*() {
    const tokens = yield* Tokens
    if (!isTenant(options.tenant)) return yield* new TenantInvalid({ tenant: options.tenant })
    const now = yield* Clock.currentTimeMillis
    const secret = `api.${yield* Identifiers.secret}`
    const lifetime = Duration.decode(options.lifetime ?? "30 days")
    const record: TokenRecord = {
      id: yield* Identifiers.recordId,
      tenant: options.tenant,
      owner: options.owner,
      scopes: options.scopes ?? Scope.literals,
      createdAt: now,
      expiresAt: Duration.isFinite(lifetime) ? now + Duration.toMillis(lifetime) : undefined
    }
    yield* tokens.add(hashOf(secret), record)
    return { token: Redacted.make(secret), record }
  })

/**
 * Tokens in memory.
 *
 * @category layers
 */
export const layerMemory: Layer.Layer<Tokens> = Layer.sync(Tokens, () => {
  const records = new Map<string, TokenRecord>()
  return {
    find: (token) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        Option.fromNullable(records.get(hashOf(token))).pipe(
          Option.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now)
        )),
    add: (hash, record) => Effect.sync(() => void records.set(hash, record)),
    list: Effect.sync(() => [...records.values()].sort((left, right) => left.createdAt - right.createdAt)),
    revoke: (id) =>
      Effect.sync(() => {
        const found = [...records].find(([, record]) => record.id === id)
        return found !== undefined && records.delete(found[0])
      })
  }
})
