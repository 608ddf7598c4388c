/** `stevedore file` and `stevedore whoami`: print one record. */
import { Checksum } from "@stevedore/core/Checksum"
import { FileRecord } from "@stevedore/core/FileRecord"
import * as Json from "@stevedore/core/Json"
import { ServiceApi, TokenInfo } from "@stevedore/core/ServiceApi"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Configuration from "../connection/configuration.js"
import type { Accepted } from "../options/parameter.js"
import type { ofService } from "../options/shared.js"
import { Output } from "../print/output.js"
import type { ofFile } from "./options.js"

const isChecksum = Schema.is(Checksum)

const shown = (value: unknown): string =>
  typeof value === "string"
    ? value
    : isChecksum(value)
    ? `${value.algorithm}:${value.value}`
    : Json.stringify(value) ?? ""

/** A record as lines of names and values, with the values aligned in one column. */
export const table = (record: object): ReadonlyArray<string> => {
  const fields = Object.entries(record).filter(([, value]) => value !== undefined)
  const width = fields.reduce((widest, [name]) => Math.max(widest, name.length), 0)
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${shown(value)}`)
}

const print = (record: object, options: Accepted<typeof ofService>) =>
  Effect.flatMap(Output, (output) => options.json ? output.json([record]) : output.lines(table(record)))

/** Prints the record of a file. */
export const file = (options: Accepted<typeof ofFile>) =>
  Effect.flatMap(ServiceApi, (service) => service.file(options.fileId)).pipe(
    Effect.flatMap((record) => print(Schema.encodeSync(FileRecord)(record), options)),
    Effect.provide(Configuration.layer(options))
  )

/** Prints whom the token belongs to, if the service tells. */
export const whoami = (options: Accepted<typeof ofService>) =>
  Effect.flatMap(ServiceApi, (service) => service.tokenInfo).pipe(
    Effect.flatMap(Option.match({
      onNone: () =>
        Effect.flatMap(Output, (output) => output.warn("This service does not tell whom a token belongs to.")),
      onSome: (info) => print(Schema.encodeSync(TokenInfo)(info), options)
    })),
    Effect.provide(Configuration.layer(options))
  )
