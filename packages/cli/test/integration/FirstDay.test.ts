import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync } from "node:fs"
import { text } from "node:stream/consumers"
import { listening } from "./listening.js"
import { interrupt, run, start } from "./stevedore.js"

const Told = Schema.decodeUnknownSync(Schema.parseJson(Schema.Struct({
  type: Schema.String,
  file: Schema.Struct({ name: Schema.String })
})))

const searchPath = process.env["PATH"]

interface Step {
  readonly command: string
  readonly output: ReadonlyArray<string>
}

/** The commands of the guide's transcript, each with what it prints. */
const steps = (): ReadonlyArray<Step> => {
  const guide = readFileSync(new URL("../../../docs/guide/watch.md", import.meta.url), "utf8")
  const [, block = ""] = /\n## A first day\n[^]*?```console\n([^]*?)```/.exec(guide) ?? []
  return block.split(/^\$ /m).slice(1).map((step) => {
    const [command = "", ...output] = step.trimEnd().replace(/\\\n\s*/g, "").split("\n")
    return { command, output: output.filter((line) => !line.startsWith("#")) }
  })
}

const ID = /\b[0-9A-Za-z]{22}\b/g

/** What differs from day to day. */
const general = (line: string) =>
  line.replaceAll("\t", "  ").replace(ID, "ID").replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME").replace(
    /api\.[0-9A-Za-z…]+/g,
    "TOKEN"
  )

/** A disk of 16 MB in the place of a directory, until it is enlarged; only root can have one. */
const smallDisk = (directory: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      mkdirSync(directory)
      if (process.platform !== "linux" || process.getuid?.() !== 0) return undefined
      const mount = (options: string) => execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", directory])
      mount("size=16m,mode=0700")
      return () => mount("remount,size=256m")
    }),
    (enlarge) => Effect.sync(() => enlarge !== undefined && execFileSync("umount", ["-l", directory]))
  )

const isWithoutRoom = ({ output }: Step): boolean => output.some((line) => / 507\b/.test(line))

describe("a first day with one's own service", () => {
  it.scopedLive("goes as the guide tells", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* fs.writeFileString(`${folder}/notes.txt`, "hello")
      const enlarge = yield* smallDisk(`${folder}/stevedore-data`)
      const heard: Array<string> = []
      const receiver = yield* listening(async (request, response) => {
        const { file, type } = Told(await text(request))
        heard.push(`${type} ${file.name}`)
        response.writeHead(204).end()
      })
      const env: Record<string, string> = {
        HOME: folder,
        STEVEDORE_SERVE_WEBHOOK_URL: receiver,
        STEVEDORE_SERVE_WEBHOOK_SECRET: "a secret of the receiver",
        STEVEDORE_SERVE_WEBHOOK_PRIVATE: "true",
        STEVEDORE_PROFILE: "stevedore-data/profile.json"
      }
      const ids = new Map<string, string>()
      const serving = (words: ReadonlyArray<string>) =>
        Effect.gen(function*() {
          const running = yield* start([...words, "--port", "0"], { cwd: folder, env })
          const line = yield* Effect.flatten(
            Stream.runHead(Stream.filter(running.lines, (one) => one.includes("STEVEDORE_BASE_URL=")))
          )
          env["STEVEDORE_BASE_URL"] = line.split("=")[1] ?? ""
          return running
        })
      let service: Effect.Effect.Success<ReturnType<typeof serving>> | undefined
      for (const step of steps()) {
        if (isWithoutRoom(step) && enlarge === undefined) continue
        const { command, output } = step
        const words = command.replace(ID, (id) => ids.get(id) ?? id).split(" ")
        if (command.startsWith("export ")) continue
        if (command === "kill %1") {
          assert.isDefined(service)
          if (service !== undefined) assert.strictEqual((yield* interrupt(service, "SIGTERM")).code, 0)
          enlarge?.()
        } else if (command.endsWith(" &")) {
          service = yield* serving(words.slice(1, -1))
        } else if (words[0] === "stevedore") {
          const { code, stderr, stdout } = yield* run(words.slice(1), { cwd: folder, env })
          const found = (isWithoutRoom(step) ? stderr : stdout).trimEnd().split("\n").filter((line) => line !== "")
          if (words[2] === "create") env["STEVEDORE_TOKEN"] = found[0] ?? ""
          const wanted = output.map(general)
          const cut = (line: string, index: number) =>
            line.startsWith(wanted[index]?.split(" …")[0] ?? line) ? wanted[index] : line
          assert.deepStrictEqual(found.map(general).map(cut), wanted, `${command}\n${stderr}`)
          const hasFailed = isWithoutRoom(step) || words[2] === "verify" && output.length > 0
          assert.strictEqual(code, hasFailed ? 1 : 0, stderr)
          for (const [index, line] of output.entries()) {
            const own = found[index]?.match(ID) ?? []
            for (const [at, id] of (line.match(ID) ?? []).entries()) ids.set(id, own[at] ?? "")
          }
        } else {
          execFileSync("sh", ["-c", command], { cwd: folder, env: { PATH: searchPath, ...env } })
        }
      }
      yield* Effect.repeat(Effect.sleep("100 millis"), { until: () => heard.length === 3 })
      assert.deepStrictEqual(heard, ["completed notes.txt", "completed recording.wav", "removed lost.bin"])
    }).pipe(Effect.provide(NodeContext.layer)), 240_000)
})
