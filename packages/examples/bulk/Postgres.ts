/** A PostgreSQL of its own: in a directory of its own, on loopback, and gone with the scope. */
import { Data, Effect, Schedule } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../../../.ci/free-port.mjs"

export class PostgresFailed extends Data.TaggedError("PostgresFailed")<{ readonly message: string }> {}

const clusters = "/usr/lib/postgresql"

// each version has a directory of its own
const programs = () =>
  [
    process.env["POSTGRES_PATH"] ?? "",
    ...(existsSync(clusters) ? readdirSync(clusters).map((version) => `${clusters}/${version}/bin`) : [])
  ].find((path) => path !== "" && existsSync(join(path, "initdb")))

// it refuses to run as root; Debian's package brings a user for it
const owner = (): { uid?: number; gid?: number } => {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }))
  return { uid: id("-u"), gid: id("-g") }
}

const listens = (port: number) =>
  Effect.async<void, PostgresFailed>((resume) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("connect", () => {
      socket.destroy()
      resume(Effect.void)
    })
    socket.once("error", ({ message }) => resume(new PostgresFailed({ message })))
  })

/** Its URL. */
export const start = Effect.gen(function*() {
  const path = programs()
  if (path === undefined) {
    return yield* new PostgresFailed({
      message:
        "PostgreSQL is not here. On Debian: apt-get install postgresql. POSTGRES_PATH names its programs elsewhere."
    })
  }
  const user = owner()
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "stevedore-demo-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  const data = join(folder, "data")
  yield* Effect.try({
    try: () => {
      if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid)
      execFileSync(join(path, "initdb"), ["-D", data, "-U", "bulk", "-A", "trust", "-N"], {
        ...user,
        cwd: folder,
        stdio: "ignore"
      })
    },
    catch: (cause) => new PostgresFailed({ message: `initdb failed: ${String(cause)}` })
  })
  const port = yield* Effect.promise(freePort)
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(join(path, "postgres"), ["-D", data, "-p", `${port}`, "-c", "listen_addresses=127.0.0.1", "-k", folder], {
        ...user,
        cwd: folder,
        stdio: "ignore"
      })
    ),
    (server) =>
      Effect.async<void>((resume) => {
        if (server.exitCode !== null) return resume(Effect.void)
        server.once("exit", () => resume(Effect.void))
        server.kill("SIGINT")
      })
  )
  yield* Effect.retry(listens(port), Schedule.intersect(Schedule.spaced("100 millis"), Schedule.recurs(300)))
  return `postgres://bulk@127.0.0.1:${port}/postgres`
})
