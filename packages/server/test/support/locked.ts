import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createRequire } from "node:module"

const program = `
const Database = require(${JSON.stringify(createRequire(import.meta.url).resolve("libsql"))})
const database = new Database(process.argv[1])
process.stdin.on("data", (asked) => {
  database.exec(String(asked))
  process.stdout.write("done")
})`

/** Another program that has the lock of a file of SQLite from one moment to another, as a shell with a transaction open. */
export const locking = (file: string) =>
  Effect.acquireRelease(
    Effect.sync(() => spawn(process.execPath, ["-e", program, file], { stdio: ["pipe", "pipe", "inherit"] })),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  ).pipe(Effect.map((child) => {
    const told = (statement: string) =>
      Effect.promise(async () => {
        child.stdin.write(statement)
        await once(child.stdout, "data")
      })
    return { held: told("begin immediate"), letGo: told("commit") }
  }))
