import { Data, Effect } from "effect"
import type * as Esbuild from "esbuild"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

const { resolve } = createRequire(import.meta.url)

/** A program of this folder as one script, which is up sooner than its modules. */
export const script = (name: string) =>
  Effect.flatMap(
    Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "stevedore-instance-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    ),
    (outdir) =>
      Effect.promise(async () => {
        // it loads a file for this machine, which is in no script
        const libsql = resolve("libsql")
        const { build }: typeof Esbuild = createRequire(resolve("tsx"))("esbuild")
        await build({
          entryPoints: [path(`./${name}.ts`)],
          tsconfig: path("../../../../tsconfig.json"),
          outdir,
          outExtension: { ".js": ".mjs" },
          bundle: true,
          platform: "node",
          format: "esm",
          target: "node20",
          alias: { libsql },
          external: ["pg-native", libsql],
          logLevel: "error",
          banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" }
        })
        return join(outdir, `${name}.mjs`)
      })
  )

/** An instance that answers. */
export interface Instance {
  readonly baseUrl: string
  readonly pid: number
  readonly signal: (signal: NodeJS.Signals) => Effect.Effect<void>
  readonly ended: Effect.Effect<number | null>
  /** What it has logged. */
  readonly output: () => string
}

class InstanceEnded extends Data.TaggedError("InstanceEnded")<{ readonly output: string }> {}

/** A process of its own, until the scope closes. */
export const instance = (
  program: string,
  env: Readonly<Record<string, string>>,
  within: ReadonlyArray<string> = []
) =>
  Effect.acquireRelease(
    Effect.async<Instance, InstanceEnded>((resume) => {
      const [command = "", ...words] = [...within, process.execPath, program]
      const child = spawn(command, words, { env, stdio: ["ignore", "pipe", "pipe"] })
      let output = ""
      const ended = new Promise<number | null>((resolve) => child.once("exit", resolve))
      child.once("exit", () => resume(Effect.fail(new InstanceEnded({ output }))))
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        output += text
      })
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        output += text
        const [, baseUrl] = /^(http:\S+)\n/m.exec(output) ?? []
        if (baseUrl === undefined) return
        resume(Effect.succeed({
          baseUrl,
          pid: child.pid ?? 0,
          signal: (signal) => Effect.sync(() => void child.kill(signal)),
          ended: Effect.promise(() => ended),
          output: () => output
        }))
      })
    }),
    ({ ended, signal }) => Effect.zipRight(signal("SIGKILL"), ended)
  )
