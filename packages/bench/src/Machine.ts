/** Where the figures come from: the machine, the versions, the day. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { arch, cpus, platform, release, totalmem } from "node:os"
import { dirname, join } from "node:path"

const { resolve } = createRequire(import.meta.url)

const manifestOf = (name: string): string => {
  // not every package exports its package.json
  for (let folder = dirname(resolve(name)); dirname(folder) !== folder; folder = dirname(folder)) {
    const manifest = join(folder, "package.json")
    if (existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).name === name) return manifest
  }
  return resolve(`${name}/package.json`)
}

/** The version of a package that is installed. */
export const versionOf = (name: string): string => {
  const manifest: unknown = JSON.parse(readFileSync(manifestOf(name), "utf8"))
  return typeof manifest === "object" && manifest !== null && "version" in manifest ? String(manifest.version) : "?"
}

export const describe = (): string => {
  const [first] = cpus()
  return [
    `${cpus().length} × ${first?.model.trim() ?? arch()}`,
    `${Math.round(totalmem() / 2 ** 30)} GiB`,
    `${platform()} ${release()}`,
    `Node ${process.versions.node}`
  ].join(", ")
}

export const today: Effect.Effect<string> = Effect.map(DateTime.now, DateTime.formatIsoDateUtc)
