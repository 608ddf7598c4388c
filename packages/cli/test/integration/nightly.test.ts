import { FileSystem } from "@effect/platform"
import { NodeContext, NodeHttpServer } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import * as Reports from "@stevedore/cli/Reports"
import * as ObjectStoreDirectory from "@stevedore/server/ObjectStoreDirectory"
import { SandboxHttp } from "@stevedore/testing"
import { Duration, Effect, Layer, Redacted, Schema } from "effect"
import { spawn } from "node:child_process"
import { createServer as createHttpServer } from "node:http"
import { connect, createServer, type Socket } from "node:net"
import { command } from "./bundle.js"

const searched = process.env.PATH

// For a longer run: STEVEDORE_NIGHTLY_FILES=5000
const count = Number(process.env.STEVEDORE_NIGHTLY_FILES ?? 150)

// Most are small, and some take many chunks
const sizeOf = (index: number): number => 1 + ((index * 7919) % (index % 97 === 5 ? 2_000_000 : 20_000))

const contentOf = (index: number): string => `${index} `.padEnd(sizeOf(index), "abcdefghij").slice(0, sizeOf(index))

const uploadReport = Schema.decodeUnknownSync(Schema.parseJson(Reports.UploadReport))

const host = "127.0.0.1"

const portOf = (server: { readonly address: () => unknown }) =>
  Schema.decodeUnknownSync(Schema.Struct({ port: Schema.Number }))(server.address()).port

/**
 * A cable to a port of this machine. While it is unplugged, no byte goes through it in either direction; its connections are gone
 * when it is plugged in again.
 */
const cable = Effect.acquireRelease(
  Effect.async<
    { readonly port: number; lead: (port: number) => void; unplug: () => void; plug: () => void; close: () => void }
  >(
    (resume) => {
      const sockets = new Set<Socket>()
      let end = 0
      let isPlugged = true
      const server = createServer((socket) => {
        const other = connect(end, host)
        for (const [from, to] of [[socket, other], [other, socket]] as const) {
          sockets.add(from)
          from.on("data", (bytes) => isPlugged && to.write(bytes))
          from.on("error", () => from.destroy())
          from.on("end", () => isPlugged && to.end())
          from.on("close", () => {
            sockets.delete(from)
            if (isPlugged) to.destroy()
          })
        }
      })
      const cut = () => sockets.forEach((socket) => socket.destroy())
      server.listen(0, host, () =>
        resume(Effect.succeed({
          port: portOf(server),
          lead: (port) => {
            end = port
          },
          unplug: () => {
            isPlugged = false
          },
          plug: () => {
            cut()
            isPlugged = true
          },
          close: () => {
            cut()
            server.close()
          }
        })))
    }
  ),
  (opened) => Effect.sync(() => opened.close())
)

/** The sandbox, at the ends of two cables. */
const distantSandbox = (directory: string) =>
  Effect.gen(function*() {
    const cables = [yield* cable, yield* cable] as const
    const listen = (end: (typeof cables)[number]) =>
      Effect.gen(function*() {
        const sockets = createHttpServer({ requestTimeout: 0, keepAliveTimeout: 65_000 })
        const server = yield* NodeHttpServer.make(() => sockets, { host, port: 0 })
        yield* Effect.addFinalizer(() => Effect.sync(() => sockets.closeAllConnections()))
        end.lead(portOf(sockets))
        return server
      })
    const [api, storage] = [yield* listen(cables[0]), yield* listen(cables[1])]
    const sandbox = yield* SandboxHttp.serve({ api, storage }, {
      apiOrigin: `http://${host}:${cables[0].port}`,
      storageOrigin: `http://${host}:${cables[1].port}`
    }).pipe(Effect.provide(yield* Layer.build(ObjectStoreDirectory.layer({ directory }))))
    const each = (act: (end: (typeof cables)[number]) => void) => cables.forEach(act)
    return { sandbox, unplug: () => each((end) => end.unplug()), plug: () => each((end) => end.plug()) }
  })

/** Runs the command, and does something once so many files have been reported. */
const disturbedAfter = (
  words: ReadonlyArray<string>,
  env: Readonly<Record<string, string | undefined>>,
  most: number,
  disturb: (kill: () => void) => void
) =>
  Effect.async<{ readonly code: number | null; readonly lines: ReadonlyArray<string> }>((resume) => {
    const child = spawn(process.execPath, words, { env, stdio: ["ignore", "pipe", "inherit"] })
    let text = ""
    let isQuiet = true
    child.stdout.setEncoding("utf8").on("data", (more: string) => {
      text += more
      if (isQuiet && text.split("\"type\":\"completed\"").length > most) {
        isQuiet = false
        disturb(() => child.kill("SIGKILL"))
      }
    })
    child.on("close", (code) => {
      // the last line of a killed process may be incomplete
      resume(Effect.succeed({ code, lines: text.split("\n").slice(0, -1).filter((line) => line !== "") }))
    })
    return Effect.sync(() => child.kill("SIGKILL"))
  })

it.scopedLive(
  `${count} files of mixed sizes, killed three times and once without a network: nothing is missing, nothing is there twice`,
  () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const [bundle, state, recordings] = [`${folder}/bundle`, `${folder}/state`, `${folder}/recordings`]
      const indexes = Array.from({ length: count }, (_, index) => index)
      const nameOf = (index: number) => `${index % 7}/${index}.bin`
      yield* Effect.forEach(indexes.slice(0, 7), (index) =>
        fs.makeDirectory(`${recordings}/${index}`, { recursive: true }))
      yield* Effect.forEach(indexes, (index) =>
        fs.writeFileString(`${recordings}/${nameOf(index)}`, contentOf(index)), {
        concurrency: 16
      })
      const store = yield* fs.makeTempDirectoryScoped()
      const { plug, sandbox, unplug } = yield* distantSandbox(store)
      const words = [...yield* Effect.promise(() => command(bundle)), "upload", recordings, "--json", "--files", "8"]
      const env = {
        PATH: searched,
        HOME: state,
        XDG_STATE_HOME: state,
        LOCALAPPDATA: state,
        STEVEDORE_BASE_URL: sandbox.baseUrl,
        STEVEDORE_TOKEN: Redacted.value(sandbox.token)
      }
      const run = (share: number, disturb: (kill: () => void) => void) =>
        Effect.map(
          Effect.timed(disturbedAfter(words, env, Math.ceil(count * share), disturb)),
          ([took, { code, lines }]) => {
            const seconds = Duration.toSeconds(took).toFixed(0)
            const reported = lines.filter((line) => line.includes("\"type\":\"completed\"")).length
            return { code, lines, told: `${reported} files in ${seconds} s, exit code ${code}` }
          }
        )
      for (const share of [0.2, 0.3, 0.1]) {
        const { code, told } = yield* run(share, (kill) => kill())
        assert.isNull(code, told)
        yield* Effect.logInfo(`Killed: ${told}`)
      }
      const unplugged = yield* run(0.1, () => {
        unplug()
        setTimeout(plug, 20_000)
      })
      yield* Effect.logInfo(`Without a network for 20 s: ${unplugged.told}`)
      assert.strictEqual(unplugged.code, 0)
      const again = yield* run(Number.POSITIVE_INFINITY, () => {})
      yield* Effect.logInfo(`Again: ${again.told}`)
      assert.strictEqual(again.code, 0)
      const skipped = again.lines.map((line) => uploadReport(line)).flatMap((report) =>
        report.type === "skipped" && report.fileId !== undefined ? [[report.path, report.fileId] as const] : []
      )
      assert.lengthOf(skipped, count)
      const ids = new Map(skipped)
      for (const index of indexes) {
        const id = ids.get(`${recordings}/${nameOf(index)}`) ?? "not uploaded"
        assert.strictEqual(new TextDecoder().decode(yield* sandbox.stored(id)), contentOf(index))
      }
      // whatever was reported before it was killed, the service has each name once
      const names = (yield* sandbox.files).map(({ name }) => name)
      assert.sameMembers(names, indexes.map(nameOf))
    }).pipe(Effect.provide(NodeContext.layer)),
  300_000 + count * 500
)
