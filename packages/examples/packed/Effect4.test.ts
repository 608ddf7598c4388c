import { assert, beforeAll, describe, it } from "@effect/vitest"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { afterAll } from "vitest"
import { packagesForEffect4 } from "../../../.ci/packages.mjs"
import {
  compile,
  environment,
  install,
  json,
  known,
  modulesForEffect4,
  nodeOf,
  nodesForEffect4,
  packed,
  resolutions,
  run,
  scriptsOf,
  trials,
  versionsOf,
  vite,
  writeModules
} from "./project.js"

const { folder, tarballs, tarballsForEffect4 } = packed()

const programs = ["upload.ts", "files.ts", "fakes.ts"] as const

describe("what is packed for Effect 4, beside the effect of the registry and the peers that are published", () => {
  let project = ""
  let sandbox: ChildProcess | undefined
  let variables: Readonly<Record<string, string>> = {}

  beforeAll(async () => {
    const peers = packagesForEffect4.flatMap(({ path }) =>
      Object.keys(json(`${path}/package.json`).peerDependencies ?? {})
    )
    project = await install("effect4", {
      own: packagesForEffect4.map(({ directory }) => directory),
      tarballs: tarballsForEffect4,
      others: {
        ...Object.fromEntries(peers.map((name) => [name, "latest"])),
        "typescript": known["typescript"] ?? "*",
        "typescript7": "npm:typescript@7",
        "@types/node": "22",
        ...versionsOf(["vite"])
      }
    })
    cpSync(join(trials, "effect4"), project, { recursive: true })
    cpSync(join(trials, "page"), join(project, "page"), { recursive: true })
    writeModules(project, modulesForEffect4)
    writeFileSync(join(project, "interview.mp4"), new Uint8Array(12_000_000).map((_, index) => (index * 7) % 251))

    // a service of the other line
    const command = await install("sandbox", { own: ["core", "node", "server", "testing", "cli"], tarballs })
    const words = ["node_modules/@stevedore/cli/bin/stevedore.cjs", "sandbox", "--port", "0", "--storage-port", "0"]
    const started = spawn(process.execPath, [...words, "--json"], {
      cwd: command,
      env: environment(folder),
      stdio: ["ignore", "pipe", "ignore"]
    })
    sandbox = started
    const [listening] = await once(createInterface(started.stdout), "line")
    const { api, token } = JSON.parse(listening)
    variables = { STEVEDORE_BASE_URL: api, STEVEDORE_TOKEN: token }
  })

  afterAll(() => {
    sandbox?.kill()
  })

  it("has one copy of effect", () => {
    const { packages: installed } = json(join(project, "package-lock.json"))
    assert.lengthOf(Object.keys(installed).filter((path) => path.endsWith("node_modules/effect")), 1)
  })

  describe.each(["typescript", "typescript7"])("by %s", (compiler) => {
    it.each(resolutions)("has its types by module %s and moduleResolution %s", async (...resolution) => {
      assert.strictEqual(
        await compile(project, compiler, resolution, [...programs, "atoms.ts", "page/main.ts", "modules.ts"]),
        ""
      )
    })
  })

  it("makes a page by Vite that needs nothing of Node", async () => {
    await vite(project, "page")
    assert.notMatch(scriptsOf(join(project, "page")), /["']node:[a-z/]+["']|__vite-browser-external/)
  })

  describe.each(nodesForEffect4)("on Node %s", (wanted) => {
    // the types are stripped by Node itself
    it.each(programs)("%s uploads", async (program) => {
      assert.match(await run(project, nodeOf(wanted), [program], { variables }), /\S/)
    })

    it("has back what went up", () => {
      const stored = join(project, "interview-as-stored.mp4")
      assert.isTrue(readFileSync(stored).equals(readFileSync(join(project, "interview.mp4"))))
      rmSync(stored)
    })
  })
})
