/** `stevedore token`: the tokens of one's own service. */
import * as Identifiers from "@stevedore/server/parts/identifiers"
import * as Tokens from "@stevedore/server/Tokens"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { invalid } from "../options/invalidInput.js"
import { Output } from "../print/output.js"
import type * as Given from "./options.js"
import { over, printed, time } from "./rows.js"

const overTokens = over("token", {
  database: ({ tokens }) => tokens,
  directory: ({ tokens }) => tokens
})

const Scopes = Schema.NonEmptyArray(Tokens.Scope)

const scopesOf = (given: Option.Option<string>) =>
  Effect.transposeMapOption(given, (text) =>
    Effect.mapError(
      Schema.decodeUnknown(Scopes)(text.split(",").map((one) => one.trim())),
      () => invalid("--scopes", "expected read, write, or both with a comma between")
    ))

const reportOf = ({ createdAt, expiresAt, id, owner, scopes, tenant }: Tokens.TokenRecord) => ({
  type: "token",
  id,
  tenant,
  owner: owner.name,
  scopes,
  created_at: time(createdAt),
  expires_at: time(expiresAt)
})

/** Makes one, and shows it. */
export const create = overTokens((options: Given.Creating) =>
  Effect.gen(function*() {
    const output = yield* Output
    const scopes = yield* scopesOf(options.scopes)
    const owner = Option.getOrElse(options.owner, () => "owner")
    const { record, token } = yield* Tokens.create({
      tenant: Option.getOrElse(options.tenant, () => "default"),
      owner: { id: owner, name: owner },
      scopes: Option.getOrUndefined(scopes),
      lifetime: Duration.days(Option.getOrElse(options.days, () => 30))
    })
    const secret = Redacted.value(token)
    yield* options.json ? output.json([{ ...reportOf(record), token: secret }]) : output.lines([secret])
  }).pipe(Effect.provide(Identifiers.layerSecure))
)

/** Lists them. */
export const list = overTokens((options: Given.OfRows) =>
  Effect.gen(function*() {
    const { list } = yield* Tokens.Tokens
    const reports = (yield* list).map(reportOf)
    yield* printed(options, reports, ({ expires_at, id, owner, scopes, tenant }) => [
      id,
      tenant,
      owner,
      scopes.join(","),
      expires_at ?? "never"
    ])
  })
)

/** Revokes one. */
export const revoke = overTokens(({ id, ...options }: Given.OfFile) =>
  Effect.gen(function*() {
    const { revoke } = yield* Tokens.Tokens
    if (!(yield* revoke(id))) return yield* invalid("ID", `there is no token ${id}`)
    yield* printed(options, [{ type: "revoked", id }], () => [`Revoked ${id}`])
  })
)
