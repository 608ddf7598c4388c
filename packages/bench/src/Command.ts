/** The command `stevedore`, as a contender. */
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Bundle from "./Bundle.js"
import type { Contender } from "./Contest.js"
import type { Sink } from "./Processes.js"
import type { Setting } from "./Topic.js"

const cli = fileURLToPath(new URL("../../cli", import.meta.url))

/** The command as it was built, where it was; else as a script made now. */
export const script = (setting: Setting) =>
  Effect.gen(function*() {
    const built = join(cli, "bin/stevedore.cjs")
    if (existsSync(join(cli, "dist/bin.js"))) return { what: "as built", script: built }
    yield* Bundle.scripts([join(cli, "src/bin.ts")], join(setting.folder, "cli"))
    return { what: "bundled", script: join(setting.folder, "cli/bin.mjs") }
  })

/** Its home in a run. */
export const home = ({ folder }: Setting): Readonly<Record<string, string>> => ({
  XDG_STATE_HOME: join(folder, "state"),
  XDG_CACHE_HOME: join(folder, "cache")
})

/** Its home, and whom it asks. */
export const environment = (setting: Setting, sink: Sink): Readonly<Record<string, string>> => ({
  STEVEDORE_BASE_URL: sink.origin,
  STEVEDORE_TOKEN: "api.loopback",
  ...home(setting),
  NO_PROXY: "127.0.0.1"
})

/** A program for Node. */
export const node = (
  title: string,
  words: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {}
): Contender => ({ title, program: process.execPath, words, env })
