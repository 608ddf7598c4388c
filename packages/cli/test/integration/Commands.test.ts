import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { SqlClient } from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Bulk } from "@stevedore/bulk"
import { Serving } from "@stevedore/cli/Reports"
import * as Sqlite from "@stevedore/server/Sqlite"
import { Effect, Schema, Stream } from "effect"
import { commands } from "../../src/line/commands.js"
import { run, start } from "./stevedore.js"

/** What makes each command load all that it is, and then end by itself, with what it says. */
type Case = readonly [words: ReadonlyArray<string>, said: RegExp, env?: Readonly<Record<string, string>>]

const nowhere = "postgres://127.0.0.1:1/x"

const firsts: Readonly<Record<string, ReadonlyArray<Case>>> = {
  upload: [[["package.json"], /STEVEDORE_BASE_URL: not set/]],
  uploads: [[[], /No unfinished uploads/]],
  uploaded: [[[], /./]],
  download: [[["f1"], /STEVEDORE_BASE_URL: not set/]],
  bulk: [
    [["status"], /jobs\.db is not there/],
    [["status", "--database-env", "NOWHERE"], /cannot be used|ECONNREFUSED/, { NOWHERE: nowhere }]
  ],
  mcp: [
    [[], /--root: give a directory/],
    [["--root", "nothing"], /--root: nothing is not a directory/]
  ],
  limit: [[[], /./]],
  file: [[["f1"], /STEVEDORE_BASE_URL: not set/]],
  projects: [[[], /STEVEDORE_BASE_URL: not set/]],
  list: [[["tags"], /STEVEDORE_BASE_URL: not set/]],
  whoami: [[[], /STEVEDORE_BASE_URL: not set/]],
  doctor: [[[], /STEVEDORE_BASE_URL/]],
  config: [[[], /./]],
  help: [[["token"], /Make, list and revoke/]],
  // an address of nobody
  serve: [
    [["--host", "192.0.2.1", "--port", "0"], /cannot listen on 192\.0\.2\.1/],
    [[], /STEVEDORE_SERVE_QOUTA_BYTES: there is no such variable/, { STEVEDORE_SERVE_QOUTA_BYTES: "1" }],
    [[], /STEVEDORE_SERVE_RATE_LIMIT: has no effect/, { STEVEDORE_SERVE_RATE_LIMIT: "200/minute" }],
    [["--public-url", "https://files.example/?a"], /--public-url: expected a URL/]
  ],
  token: [
    [["list", "--directory", "nothing"], /there is no service in nothing/],
    [["create", "ann", "--directory", "nothing"], /ID: means nothing to token create/],
    [["list"], /the database cannot be used \(ECONNREFUSED\)/, { STEVEDORE_SERVE_DATABASE_URL: nowhere }]
  ],
  files: [
    [["ls", "--directory", "nothing"], /there is no service in nothing/],
    [["ls", "acme", "--directory", "nothing"], /ID: means nothing to files ls/],
    [["ls"], /the database cannot be used \(ECONNREFUSED\)/, { STEVEDORE_SERVE_DATABASE_URL: nowhere }]
  ],
  bucket: [[["check"], /STEVEDORE_SERVE_BUCKET: not set/]],
  sandbox: [[["--faults", "nothing"], /nothing/]]
}

const Token = Schema.Struct({ id: Schema.String, token: Schema.String })

describe("every command", () => {
  it.scopedLive(
    "comes to its own first message",
    () =>
      Effect.gen(function*() {
        assert.sameMembers(Object.keys(firsts), commands.map(({ name }) => name))
        const fs = yield* FileSystem.FileSystem
        const cwd = yield* fs.makeTempDirectoryScoped()
        yield* fs.writeFileString(`${cwd}/package.json`, "{}")
        yield* Effect.forEach(
          Object.entries(firsts).flatMap(([command, cases]) =>
            cases.map(([words, said, env]) => ({ command, words, said, env }))
          ),
          ({ command, env, said, words }) =>
            Effect.gen(function*() {
              const { code, stderr, stdout } = yield* run([command, ...words], {
                cwd,
                env: { XDG_STATE_HOME: `${cwd}/state`, ...env }
              })
              const line = `${command} ${words.join(" ")}: ${code} ${stdout}${stderr}`
              assert.notMatch(line, /This is a bug/)
              assert.match(`${stdout}${stderr}`, said, line)
              assert.include([0, 1, 2], code, line)
            }),
          { concurrency: 2, discard: true }
        )
      }).pipe(Effect.provide(NodeContext.layer)),
    300_000
  )
})

describe("a command that remembers", () => {
  it.scopedLive("leaves alone what a newer version has written", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const cwd = yield* fs.makeTempDirectoryScoped()
      const state = `${cwd}/state/stevedore`
      yield* fs.makeDirectory(state, { recursive: true, mode: 0o700 })
      yield* fs.writeFileString(`${state}/.format`, "2\n")
      yield* fs.writeFileString(`${cwd}/notes.txt`, "hello")
      const env = { XDG_STATE_HOME: `${cwd}/state`, STEVEDORE_BASE_URL: "http://127.0.0.1:1", STEVEDORE_TOKEN: "api.x" }
      for (const words of [["upload", "notes.txt"], ["uploads"]]) {
        const { code, stderr } = yield* run(words, { cwd, env })
        assert.strictEqual(code, 2, stderr)
        assert.match(stderr, /state\/stevedore: was written by a newer version/)
      }
      assert.deepStrictEqual(yield* fs.readDirectory(state, { recursive: true }), [".format"])
      // of jobs, the tables say it
      const jobs = `${cwd}/jobs.db`
      yield* Effect.provide(
        Effect.flatMap(SqlClient, (sql) =>
          Effect.zipRight(Bulk.migrate, sql`insert into bulk_migrations values (9, current_timestamp, 'later')`)),
        Sqlite.layer({ file: jobs })
      )
      const { code, stderr } = yield* run(["bulk", "status", "--store", jobs], { cwd, env })
      assert.strictEqual(code, 2, stderr)
      assert.include(stderr, "written by a newer version")
    }).pipe(Effect.provide(NodeContext.layer)), 120_000)
})

describe("the tokens of a service", () => {
  it.scopedLive(
    "are made, listed and revoked beside it, and it knows at once",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const cwd = yield* fs.makeTempDirectoryScoped()
        const serving = yield* start(["serve", "--port", "0", "--directory", "data", "--json"], { cwd })
        const { api } = yield* Effect.flatMap(
          Effect.flatten(Stream.runHead(serving.lines)),
          Schema.decode(Schema.parseJson(Serving))
        )
        const token = (...words: ReadonlyArray<string>) =>
          Effect.tap(run(["token", ...words, "--directory", "data"], { cwd }), ({ code, stderr }) =>
            Effect.sync(() => assert.strictEqual(code, 0, `${words.join(" ")}: ${stderr}`)))
        const made = yield* token("create", "--tenant", "acme", "--json")
        const refused = yield* run(["token", "create", "--tenant", "a/b", "--directory", "data"], { cwd })
        assert.match(refused.stderr, /^--tenant: A tenant's name has at most 64/)
        const { id, token: secret } = yield* Schema.decode(Schema.parseJson(Token))(made.stdout)
        const status = Effect.promise(() =>
          fetch(`${api}/v1/token/info`, { headers: { authorization: `Bearer ${secret}` } }).then(({ status }) =>
            status
          )
        )
        assert.strictEqual(yield* status, 200)
        assert.include((yield* token("list")).stdout, id)
        yield* token("revoke", id)
        assert.strictEqual(yield* status, 401)
      }).pipe(Effect.provide(NodeContext.layer)),
    300_000
  )
})
