import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { fileURLToPath } from "node:url"

const Manifest = Schema.parseJson(Schema.Struct({ version: Schema.String }))

const manifestAt = (relative: string) =>
  Effect.flatMap(
    FileSystem.FileSystem,
    (fs) => fs.readFileString(fileURLToPath(new URL(relative, import.meta.url)))
  ).pipe(Effect.flatMap(Schema.decode(Manifest)))

/** The version of this package, from its manifest: one folder up from source and build, two up from a bundle. */
export const current: Effect.Effect<string, never, FileSystem.FileSystem> = manifestAt("../package.json").pipe(
  Effect.orElse(() => manifestAt("../../package.json")),
  Effect.match({ onFailure: () => "unknown", onSuccess: ({ version }) => version })
)
