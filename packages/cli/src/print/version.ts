import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { fileURLToPath } from "node:url"

const Manifest = Schema.parseJson(Schema.Struct({ version: Schema.String }))

/** The version of this package, from its manifest: two folders up, also from the bundle. */
export const current: Effect.Effect<string, never, FileSystem.FileSystem> = Effect.flatMap(
  FileSystem.FileSystem,
  (fs) => fs.readFileString(fileURLToPath(new URL("../../package.json", import.meta.url)))
).pipe(
  Effect.flatMap(Schema.decode(Manifest)),
  Effect.match({ onFailure: () => "unknown", onSuccess: ({ version }) => version })
)
