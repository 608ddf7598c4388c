import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport as StdioClientTransport1 } from "@modelcontextprotocol/sdk/client/stdio.js"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { afterAll } from "vitest"
import {
  type Ended,
  ended,
  environment,
  install,
  json,
  nodeOf,
  nodes,
  packed,
  published,
  run,
  versionsOf
} from "../../examples/packed/project.js"
import { commands as all } from "../src/line/commands.js"

const { folder, tarballs } = packed()

/**
 * Every command, and every action of those that have some, with the words of its first own answer, the exit code and
 * what it says. `FILE` is the id of a file that was uploaded.
 */
const commands: ReadonlyArray<readonly [words: string, code: number, says: RegExp]> = [
  ["upload folder --again", 0, /^\w{22}\t/m],
  ["uploads", 0, /No unfinished uploads/],
  ["uploaded", 0, /notes\.txt/],
  ["download FILE --output copy.txt", 0, /copy\.txt/],
  ["limit", 0, /./],
  ["file FILE", 0, /notes\.txt/],
  ["projects", 0, /^\w{22}/],
  ["list projects --limit 1", 0, /^\w{22}/],
  ["whoami", 0, /./],
  ["doctor", 0, /./],
  ["config", 0, /baseUrl/],
  ["help upload", 0, /stevedore upload/],
  ["token create --directory data --tenant acme", 0, /./],
  ["token list --directory data", 0, /acme/],
  ["token revoke nobody --directory data", 2, /nobody/],
  ["files ls --directory data", 0, /^/],
  ["files show nobody --directory data", 2, /nobody/],
  ["files usage --directory data", 0, /^/],
  ["files stuck --directory data", 0, /^/],
  ["files rm nobody --directory data", 2, /nobody/],
  ["files verify --directory data", 0, /^/],
  ["files resend --directory data", 0, /^/],
  ["bucket check", 2, /STEVEDORE_/],
  ["bucket setup", 2, /STEVEDORE_/],
  ["serve --directory data --port nonsense", 2, /port/],
  ["sandbox --port nonsense", 2, /port/],
  ["bulk migrate", 0, /^/],
  ["bulk start job folder", 0, /job/],
  ["bulk status", 0, /job/],
  ["bulk status job", 0, /job/],
  ["bulk failures job", 0, /No file of job has failed/],
  ["bulk files job", 0, /\t(?:unproven|stored)\t/],
  ["bulk pause nobody", 2, /nobody/],
  ["bulk resume nobody", 2, /nobody/],
  ["bulk cancel nobody", 2, /nobody/],
  ["bulk retry nobody", 2, /nobody/],
  ["bulk forget job", 0, /^/],
  ["bulk runners", 0, /^/],
  ["bulk run --files nonsense", 2, /files/],
  ["mcp", 2, /--root: give a directory/],
  ["mcp --root nothing", 2, /nothing is not a directory/]
]

describe("the command as it is packed", () => {
  let project = ""
  const services: Array<ChildProcess> = []
  let variables: Readonly<Record<string, string>> = {}

  const command = "node_modules/@stevedore/cli/bin/stevedore.cjs"

  const stevedore = (words: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}): Promise<Ended> =>
    ended(project, process.execPath, [command, ...words], { variables: { ...variables, ...more } })

  /** Starts a service, and gives what its first line says. */
  const listening = async (...words: ReadonlyArray<string>) => {
    const service = spawn(process.execPath, [command, ...words], {
      cwd: project,
      env: environment(folder),
      stdio: ["ignore", "pipe", "ignore"]
    })
    services.push(service)
    const [line] = await once(createInterface(service.stdout), "line")
    return JSON.parse(line)
  }

  beforeAll(async () => {
    project = await install("command", {
      own: ["core", "node", "server", "testing", "cli", "bulk"],
      tarballs,
      others: versionsOf([
        "@effect/sql",
        "@effect/sql-pg",
        "@effect/experimental",
        "libsql"
      ])
    })
    mkdirSync(join(project, "folder"))
    writeFileSync(join(project, "folder/notes.txt"), "hello")
    const { api, token } = await listening("sandbox", "--port", "0", "--storage-port", "0", "--projects", "3", "--json")
    variables = { STEVEDORE_BASE_URL: api, STEVEDORE_TOKEN: token }
    // whose tokens are made, listed and revoked
    await listening("serve", "--port", "0", "--directory", "data", "--json")
  })

  afterAll(() => {
    for (const service of services) service.kill()
  })

  it("has each command and each action in the table of this test", () => {
    const tried = commands.map(([words]) => words.split(" "))
    assert.deepStrictEqual([...new Set(tried.map(([name]) => name))].sort(), all.map(({ name }) => name).sort())
    assert.deepStrictEqual(
      [...new Set(tried.filter(([name]) => name === "bulk").map(([, action]) => action))].sort(),
      all.flatMap(({ args: [action], name }) => name === "bulk" ? action?.choices ?? [] : []).toSorted()
    )
  })

  it.each(all.map(({ name }) => name))("%s has its help", async (name) => {
    const { status, stderr, stdout } = await stevedore([name, "--help"])
    assert.strictEqual(status, 0, stderr)
    assert.include(stdout, `stevedore ${name}`)
  })

  let file = ""

  it.each(commands)("%s ends with %d, in its own words", async (words, code, says) => {
    const { status, stderr, stdout } = await stevedore(words.split(" ").map((word) => word === "FILE" ? file : word))
    assert.notMatch(stderr, /This is a bug/, words)
    assert.strictEqual(status, code, `${words}\n${stdout}${stderr}`)
    assert.match(stdout + stderr, says)
    file ||= /^\w{22}/m.exec(stdout)?.[0] ?? ""
  })

  it.each([
    ["by the handshake", {}],
    ["by negotiation", { versionNegotiation: { mode: "auto" as const } }],
    ["pinned to 2026-07-28", { versionNegotiation: { mode: { pin: "2026-07-28" } } }],
    ["of 1.x", undefined]
  ])("mcp speaks with the official client, %s", async (_, options) => {
    const given = {
      command: process.execPath,
      args: [join(project, command), "mcp", "--root", join(project, "folder")],
      env: { XDG_STATE_HOME: join(folder, "state"), XDG_CACHE_HOME: join(folder, "cache"), ...variables }
    }
    const doctor = { name: "doctor", arguments: {} }
    const start = performance.now()
    if (options === undefined) {
      const client = new Client1({ name: "test", version: "1.0.0" })
      await client.connect(new StdioClientTransport1(given))
      assert.include(await client.callTool(doctor), { isError: false })
      await client.close()
    } else {
      const client = new Client({ name: "test", version: "1.0.0" }, options)
      await client.connect(new StdioClientTransport(given))
      assert.include(await client.callTool(doctor), { isError: false })
      await client.close()
    }
    assert.isBelow(performance.now() - start, 20_000)
  })

  describe.each(nodes)("on Node %s", (wanted) => {
    const said = (...words: ReadonlyArray<string>) => run(project, nodeOf(wanted), [command, ...words])
    const version = json(`${published.find(({ directory }) => directory === "cli")?.path}/package.json`).version

    it("says its version and its help", async () => {
      assert.strictEqual(await said("--version"), version)
      assert.include(await said("upload", "--help"), "stevedore upload")
    })

    it("keeps what it compiled for its user alone, and compiles it once", async () => {
      const kept = join(folder, "cache/stevedore-compiled")
      rmSync(kept, { recursive: true, force: true })
      await said("--version")
      const [script = "", ...others] = readdirSync(kept)
      assert.deepStrictEqual(others, [])
      assert.strictEqual(statSync(kept).mode & 0o077, 0)
      const { mtimeMs } = statSync(join(kept, script))
      await said("--version")
      assert.strictEqual(statSync(join(kept, script)).mtimeMs, mtimeMs)
    })
  })
})
