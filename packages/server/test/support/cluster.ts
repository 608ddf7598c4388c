import type { Scope } from "effect"
import { Data, Effect, Exit, Redacted } from "effect"
import type * as Esbuild from "esbuild"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, request as ask } from "node:http"
import { createRequire } from "node:module"
import type { Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as RealStore from "./realStore.js"

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
          external: ["pg-native"],
          logLevel: "error",
          banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" }
        })
        return join(outdir, `${name}.mjs`)
      })
  )

/** An instance that answers. */
export interface Instance {
  readonly baseUrl: string
  readonly signal: (signal: NodeJS.Signals) => Effect.Effect<void>
  readonly ended: Effect.Effect<number | null>
  /** What it has logged. */
  readonly output: () => string
}

/** What an instance is told by its environment. */
export const environment = (database: string, bucket: string, endpoint = RealStore.settings.endpoint) => ({
  STEVEDORE_SERVE_DATABASE_URL: database,
  STEVEDORE_SERVE_BUCKET: bucket,
  STEVEDORE_SERVE_S3_ENDPOINT: endpoint,
  STEVEDORE_SERVE_S3_PUBLIC_ENDPOINT: RealStore.settings.endpoint,
  STEVEDORE_SERVE_S3_REGION: RealStore.credential.region,
  STEVEDORE_SERVE_S3_ACCESS_KEY_ID: RealStore.credential.accessKeyId,
  STEVEDORE_SERVE_S3_SECRET_ACCESS_KEY: Redacted.value(RealStore.credential.secretAccessKey),
  STEVEDORE_SERVE_KMS_KEY_ID: RealStore.settings.kmsKeyId
})

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
          signal: (signal) => Effect.sync(() => void child.kill(signal)),
          ended: Effect.promise(() => ended),
          output: () => output
        }))
      })
    }),
    ({ ended, signal }) => Effect.zipRight(signal("SIGKILL"), ended)
  )

/** What happens at a call that goes through a gate: before the store gets it, or when it has answered. */
export interface Gate {
  readonly origin: string
  /** Called for each call. `true` means that it goes nowhere. */
  before: (method: string, target: string) => boolean
  /** Called when the store has answered. `true` means that nobody is told. */
  after: (method: string, target: string) => boolean
  /** Nothing goes through while it is true. */
  isShut: boolean
}

/** Between an instance and the store. */
export const gate: Effect.Effect<Gate, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.async<{ readonly gate: Gate; readonly close: () => void }>((resume) => {
      const open = new Set<Socket>()
      const target = new URL(RealStore.settings.endpoint)
      const state = { before: () => false, after: () => false, isShut: false, origin: "" }
      const made: { origin: string } & Omit<Gate, "origin"> = state
      const server = createServer((request, response) => {
        const { headers, method = "", url = "" } = request
        if (made.isShut || made.before(method, url)) {
          request.socket.destroy()
          return
        }
        const there = ask({ host: target.hostname, port: target.port, method, path: url, headers }, (answer) => {
          if (made.after(method, url)) {
            answer.resume()
            request.socket.destroy()
            return
          }
          response.writeHead(answer.statusCode ?? 502, answer.headers)
          answer.pipe(response)
        })
        there.on("error", () => response.destroy())
        request.pipe(there)
      })
      server.on("connection", (socket) => {
        open.add(socket)
        socket.on("error", () => socket.destroy())
        socket.on("close", () => open.delete(socket))
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        made.origin = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
        resume(Exit.succeed({
          gate: made,
          close: () => {
            for (const socket of open) socket.destroy()
            server.close()
          }
        }))
      })
    }),
    ({ close }) => Effect.sync(close)
  ),
  ({ gate }) => gate
)
