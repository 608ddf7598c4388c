/** `stevedore token`: the tokens of one's own service. */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Identifiers from "@stevedore/server/parts/identifiers"
import * as Tokens from "@stevedore/server/Tokens"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { invalid, type InvalidInput } from "../options/invalidInput.js"
import { Output, type OutputFailed } from "../print/output.js"
import type * as Given from "./options.js"
import { layerOf, time } from "./rows.js"

const table = ({ directory }: Given.Token) =>
  layerOf("token", directory, { database: ({ tokens }) => tokens, directory: ({ tokens }) => tokens })

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

const create = (options: Given.Token) =>
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
  })

const list = ({ json }: Given.Token) =>
  Effect.gen(function*() {
    const output = yield* Output
    const { list } = yield* Tokens.Tokens
    const reports = (yield* list).map(reportOf)
    yield* json ?
      output.json(reports) :
      output.lines(
        reports.map((one) =>
          [one.id, one.tenant, one.owner, one.scopes.join(","), one.expires_at ?? "never"].join("  ")
        )
      )
  })

const revoke = ({ id, json }: Given.Token) =>
  Effect.gen(function*() {
    const output = yield* Output
    const { revoke } = yield* Tokens.Tokens
    if (Option.isNone(id)) {
      return yield* invalid("ID", "give the id of the token to revoke: stevedore token list shows it")
    }
    if (!(yield* revoke(id.value))) return yield* invalid("ID", `there is no token ${id.value}`)
    yield* json ? output.json([{ type: "revoked", id: id.value }]) : output.lines([`Revoked ${id.value}`])
  })

/** Makes, lists or revokes. */
export const run = (
  options: Given.Token
): Effect.Effect<void, InvalidInput | OutputFailed, Output | FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const actions = { create, list, revoke }
    yield* actions[options.action](options).pipe(
      Effect.provide(yield* table(options)),
      Effect.provide(Identifiers.layerSecure),
      Effect.catchTags({
        TableFailed: ({ message }) => invalid("token", message),
        TenantInvalid: ({ message }) => invalid("--tenant", message)
      })
    )
  })
