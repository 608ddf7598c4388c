/** Runs the programs of `runtimes/`, and compares what they tried with the table of the guide. */
import { assert } from "@effect/vitest"
import type { Sandbox } from "@stevedore/testing"
import { Effect, Redacted, type Scope } from "effect"
import { build } from "esbuild"
import { spawn } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import * as Bundle from "../../../../bench/src/Bundle.js"
import type { Setting, Tried } from "../../../runtimes/Everything.js"
import * as Servers from "../../Servers.js"

const fromRoot = (path: string) => fileURLToPath(new URL(`../../../../../${path}`, import.meta.url))

const program = (name: string) => fromRoot(`packages/examples/runtimes/${name}.ts`)

/** A sandbox with what the programs expect. */
export const sandbox = Servers.sandbox({ projects: 3, minimumPartSize: 1 })

export const settingOf = ({ baseUrl, token }: Sandbox.SandboxService): Setting => ({
  baseUrl,
  token: Redacted.value(token)
})

// the binary itself: npm brings that of this platform, as a package of its own
const binary = (scope: string, path: string): string => {
  const [installed = "none"] = readdirSync(fromRoot(`node_modules/${scope}`))
  return fromRoot(`node_modules/${scope}/${installed}/${path}`)
}

/** The words that start a script, or a configuration, in each runtime. */
export const runtimes = {
  Node: [process.execPath],
  Bun: [binary("@oven", "bin/bun")],
  Deno: [binary("@deno", "deno"), "run", "--allow-all", "--no-lock"],
  workerd: [binary("@cloudflare", "bin/workerd"), "test"]
} as const

/** A program in one file, for a runtime with Node's interfaces. */
export const script = (name: string): Effect.Effect<string, never, Scope.Scope> =>
  Effect.flatMap(
    Bundle.folder,
    (folder) => Effect.as(Bundle.scripts([program(name)], folder), `${folder}/${name}.mjs`)
  )

/** A program in one file, for a runtime with those of the web alone. */
export const webScript = (name: string): Effect.Effect<string> =>
  Effect.promise(async () => {
    const { outputFiles } = await build({
      entryPoints: [program(name)],
      tsconfig: fromRoot("tsconfig.json"),
      bundle: true,
      write: false,
      format: "esm",
      target: "es2022",
      logLevel: "error"
    })
    return outputFiles[0]?.text ?? ""
  })

/** The configuration of workerd for a program, which reaches this machine. */
export const workerdConfiguration = (name: string, setting: Setting): Effect.Effect<string, never, Scope.Scope> =>
  Effect.gen(function*() {
    const folder = yield* Bundle.folder
    const code = yield* webScript(name)
    const configuration = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [
  (name = "main", worker = (
    modules = [(name = "worker", esModule = embed "worker.mjs")],
    compatibilityDate = "2026-01-01",
    bindings = [(name = "SETTING", json = ${JSON.stringify(JSON.stringify(setting))})]
  )),
  (name = "internet", network = (allow = ["private", "local"]))
]);
`
    yield* Effect.promise(() =>
      Promise.all([writeFile(`${folder}/worker.mjs`, code), writeFile(`${folder}/workerd.capnp`, configuration)])
    )
    return `${folder}/workerd.capnp`
  })

/** The lines that a process writes, until it ends or `isEnough`, where it is killed at once. */
export const linesOf = (
  words: ReadonlyArray<string>,
  isEnough: (line: string) => boolean = () => false
): Effect.Effect<ReadonlyArray<string>> =>
  Effect.promise(async (signal) => {
    const [command = "", ...rest] = words
    const child = spawn(command, rest, { stdio: ["ignore", "pipe", "pipe"], signal, killSignal: "SIGKILL" })
    const errors: Array<Buffer> = []
    child.stderr.on("data", (chunk) => errors.push(chunk))
    const ended = new Promise<number | null>((resolve, reject) => child.on("close", resolve).on("error", reject))
    const lines: Array<string> = []
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line)
      if (isEnough(line)) child.kill("SIGKILL")
    }
    const code = await ended
    if (code !== 0 && !lines.some(isEnough)) assert.fail(`${words.join(" ")}: ${code} ${Buffer.concat(errors)}`)
    return lines
  })

/** The answer of a program that writes one line of JSON. */
export const answerOf = (words: ReadonlyArray<string>): Effect.Effect<Readonly<Record<string, Tried>>> =>
  Effect.map(linesOf(words), (lines) => JSON.parse(lines.find((line) => line.startsWith("{")) ?? "null"))

const layers = ["core over fetch", "NodeStevedore", "BrowserStevedore"]

const page = readFileSync(fromRoot("packages/docs/guide/runtimes.md"), "utf8")

const columns = /^\| with \|(.*)\|$/m.exec(page)?.[1]?.split("|").map((name) => name.trim()) ?? []

/** That the page says of a runtime what was found: everything with these layers, and nothing of the others. */
export const assertSaid = (runtime: string, answer: Readonly<Record<string, Tried>>, resumes: boolean): void => {
  for (const [layer, tried] of Object.entries(answer)) {
    assert.deepStrictEqual(
      Object.keys(tried).filter((name) => tried[name] === "yes"),
      columns,
      `${layer}: ${JSON.stringify(tried)}`
    )
  }
  const cells = [...layers.map((layer) => layer in answer ? "yes" : "–"), resumes ? "yes" : "–"]
  assert.match(page, new RegExp(`^\\| ${runtime}[^|]*\\| ${cells.join(" \\| ")} \\|$`, "m"))
}
