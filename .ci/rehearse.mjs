// What a user does on the first day, before anybody does: the packages of both lines are published to a registry on the loopback,
// as a release publishes them, and every line of the README, the guides and the packages that installs or runs something is run
// against it, in an empty folder; then the same beside a later Effect. Words name pages: `npm run rehearse -- README.md`.
import { spawn } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { createInterface } from "node:readline"
import ts from "typescript"
import { freePort } from "./free-port.mjs"
import { packages, packagesForEffect4, root } from "./packages.mjs"
import { linesOf, pages as allPages } from "./pages.mjs"
import { repository, start } from "./registry.mjs"
import { outcomes, programs, programsOf, sandboxed, writeFiles } from "./rehearsal.mjs"

const wishes = process.argv.slice(2)
const pages = [...allPages, ...packagesForEffect4.map(({ path }) => `${path.slice(root.length + 1)}/README.md`)]
  .filter((page) => wishes.length === 0 || wishes.some((wish) => page === wish || page.endsWith(`/${wish}`)))

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
const nodeForEffect4 = major > 22 || major === 22 && minor >= 19
  ? process.execPath
  : `${root}/.cache/effect4/node_modules/node-${process.platform}-${process.arch}/bin/node`

const folder = mkdtempSync(`${tmpdir()}/stevedore-rehearsal-`)
const registry = await start(folder)

/** Each in a group of processes of its own. @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set()

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    for (const { pid } of running) if (pid !== undefined) process.kill(-pid, "SIGTERM")
    void registry.end().then(() => {
      rmSync(folder, { recursive: true, force: true })
      process.exit(130)
    })
  })
}

/** @type {Array<{ where: string, what: string, seconds: number, outcome: string }>} */
const rows = []

const emptyFolder = () => mkdtempSync(`${folder}/project-`)

/** @param {string} where @param {string} what @param {() => Promise<string>} run what it tells; it fails with an Error */
const row = async (where, what, run) => {
  const began = performance.now()
  const outcome = await run().catch(({ message }) => `FAIL ${message}`)
  const seconds = (performance.now() - began) / 1000
  rows.push({ where, what, seconds, outcome })
  console.log(`${seconds.toFixed(1).padStart(6)} s  ${where}: ${what}: ${outcome}`)
}

/**
 * Runs a line in a shell to its end, or until it says that it listens.
 *
 * @param {string} project
 * @param {string} line
 * @param {RegExp} [listens]
 * @returns {Promise<{ status: number | null, said: string, first: string, end: () => Promise<void> }>}
 */
const shell = (project, line, listens = undefined) =>
  new Promise((resolve) => {
    const child = spawn("sh", ["-c", line], {
      cwd: project,
      env: registry.environment,
      stdio: ["ignore", "pipe", "pipe"],
      // a group of its own: npx does not hand a signal on to all that it has started
      detached: true
    })
    const closed = new Promise((done) => child.once("close", done))
    running.add(child)
    const end = async () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGTERM")
      await closed
    }
    const late = setTimeout(end, 240_000)
    let said = ""
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on("line", (text) => {
        said += `${text}\n`
        if (listens?.test(text) !== true) return
        clearTimeout(late)
        resolve({ status: null, said, first: text, end })
      })
    }
    child.once("close", (status) => {
      running.delete(child)
      clearTimeout(late)
      resolve({ status, said, first: "", end })
    })
  })

/** @param {import("./rehearsal.mjs").Outcome} outcome @param {{ status: number | null, said: string }} ended */
const judged = ({ says, status }, { said, status: ended }) => {
  if (ended !== (status ?? null) || !says.test(said)) throw new Error(`exit ${ended}\n${said.trim()}`)
  if (status === undefined) return "listens"
  return status === 0 ? "runs" : `refuses with ${status}, as expected without what it names`
}

const isElsewhere = /--global|--prefix|\.\.\/stevedore/
const isInstall = (/** @type {string} */ line) => /^npm (?:i|install) /.test(line)

/** @param {string} project @param {string} line */
const install = async (project, line) => {
  const { said, status } = await shell(project, line)
  const isTroubled = /ERESOLVE|ERR_PNPM|peer dep|unmet|missing peer|Could not resolve/i.test(said)
  if (status !== 0 || isTroubled) throw new Error(`exit ${status}\n${said.trim()}`)
  if (line.startsWith("npm ")) {
    const place = /--global|--prefix \S+/.exec(line)?.[0] ?? ""
    const tree = await shell(project, `npm ls --all --loglevel=error ${place}`)
    if (tree.status !== 0) throw new Error(`a peer is missing or another\n${tree.said.trim()}`)
  }
  return "installs"
}

/**
 * Installs each line of the pages in an empty folder of its own.
 *
 * @param {string} how
 * @param {(line: string) => string} spelled
 * @param {(page: string, line: string) => boolean} those
 */
const rehearseInstalls = async (how, spelled, those) => {
  const lines = pages.flatMap((page) => linesOf(page).map(({ at, line }) => ({ page, at, line })))
    .filter(({ line, page }) => isInstall(line) && those(page, line))
  // the first of those that say the same
  const queue = lines.filter(({ line }, index) => lines.findIndex((one) => one.line === line) === index)
  const lane = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { at, line, page } = next
      await row(`${page}:${at}`, `${spelled(line)}${how}`, () => install(emptyFolder(), spelled(line)))
    }
  }
  // npm waits for the network half of its time
  await Promise.all([lane(), lane()])
}

/** Its address and token, as a shell sets them, and a file that it has. @typedef {{ exported: string, file: string }} Service */

/** @param {string} page @param {string} project @param {Service} service */
const rehearsePrograms = async (page, project, { exported, file: id }) => {
  const expected = programs[page] ?? []
  const found = programsOf(page)
  const node = page.endsWith("/effect-versions.md") ? nodeForEffect4 : process.execPath
  for (const [index, { after = "", file = "program.mjs", says = /ended/ }] of expected.entries()) {
    await row(page, `program ${index + 1} of ${found.length}`, async () => {
      if (found.length !== expected.length) throw new Error(`.ci/rehearsal.mjs knows ${expected.length} programs`)
      const place = `${project}/program-${index + 1}`
      const { outputText } = ts.transpileModule(found[index] ?? "", {
        compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
      })
      const code = `${outputText}\n${after}`.replaceAll("8080", String(await freePort()))
        .replaceAll("1kf00nQk9yfWKfsTDni8aO", id)
      mkdirSync(place)
      // a download replaces no file
      if (!/NodeDownloads\.toFile\([^)]*"interview\.mp4"/.test(code)) writeFiles(place)
      writeFileSync(`${place}/${file}`, code)
      const line = file.endsWith(".test.mjs") ? `npx vitest run ${file}` : `"${node}" ${file}`
      return judged({ status: 0, says }, await shell(place, `${exported}${line}`))
    })
  }
}

/** What a reader of a page does in one project, from its top to its end. @param {string} page @param {Service} service */
const rehearsePage = async (page, service) => {
  const lines = linesOf(page)
  if (programs[page] === undefined && !lines.some(({ line }) => line.startsWith("npx "))) return
  const project = emptyFolder()
  writeFileSync(`${project}/package.json`, JSON.stringify({ private: true, type: "module" }))
  writeFiles(project)
  if (page.endsWith("/tutorial.md")) {
    const port = String(await freePort())
    cpSync(`${root}/packages/examples/archive`, project, { recursive: true })
    for (const file of ["main.ts", "page/vite.config.ts"]) {
      writeFileSync(`${project}/${file}`, readFileSync(`${project}/${file}`, "utf8").replaceAll("8080", port))
    }
  }
  const isOn4 = page.endsWith("/effect-versions.md")
  for (const { at, block, line } of lines) {
    const isHere = isInstall(line) && !isElsewhere.test(line) &&
      (isOn4 ? line.includes("@effect4") : !/install effect(?:@3)?$/.test(line))
    if (isHere) await row(`${page}:${at}`, `${line}, after those before it`, () => install(project, line))
    if (!line.startsWith("npx ")) continue
    const [, outcome] = outcomes.find(([pattern]) => pattern.test(line)) ?? []
    await row(`${page}:${at}`, line, async () => {
      if (outcome === undefined) throw new Error(".ci/rehearsal.mjs does not say what comes of it")
      const exports = block.split("\n").filter((one) => one.startsWith("export ")).map((one) => `${one}\n`).join("")
      const whole = `${exports}${service.exported}${line} ${outcome.more ?? ""}`
      const ended = await shell(project, whole, outcome.status === undefined ? outcome.says : undefined)
      await ended.end()
      return judged(outcome, ended)
    })
  }
  await rehearsePrograms(page, project, service)
}

/** What a package promises: the modules that pages import, its files, and links of its README that lead somewhere. */
const rehearsePackages = async () => {
  const own = packages.filter(({ published }) => published)
  const manifests = own.map(({ path }) => JSON.parse(readFileSync(`${path}/package.json`, "utf8")))
  const peers = manifests.flatMap(({ peerDependencies }) => Object.entries(peerDependencies ?? {}))
  const wanted = new Set(peers.map(([name, range]) => `"${name}@${range}"`))
  const project = emptyFolder()
  const line = `npm install ${own.map(({ name }) => name).join(" ")} ${[...wanted].join(" ")}`
  await row("all packages", "in one project, with all their peers", () => install(project, line))
  await row("all pages", "the modules that they import", async () => {
    const texts = pages.map((page) => readFileSync(`${root}/${page}`, "utf8")).join("\n")
    const names = new Set([...texts.matchAll(/(?:from|import) "(@stevedore\/[^"]+)"/g)].map(([, name]) => name))
    writeFileSync(`${project}/imports.mjs`, `for (const name of ${JSON.stringify([...names])}) await import(name)`)
    return judged({ status: 0, says: /^/ }, await shell(project, "node imports.mjs"))
  })
  await row("all packages", "their files, and the links of their READMEs", async () => {
    const target = `${repository.GITHUB_SERVER_URL}/${repository.GITHUB_REPOSITORY}/blob/${repository.GITHUB_REF_NAME}`
    const missing = manifests.flatMap(({ bin = {}, exports, man = [], name }) => {
      const place = `${project}/node_modules/${name}`
      const texts = ["README.md", "AGENTS.md", "CHANGELOG.md", "LICENSE"]
      const files = [...Object.values(bin), ...man, ...Object.values(exports["."]), ...texts]
        .filter((file) => !existsSync(`${place}/${file}`))
      const links = [...readFileSync(`${place}/README.md`, "utf8").matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)]
        .map(([, link = ""]) => link)
        .filter((link) => link.startsWith(target) ? !existsSync(link.replace(target, root)) : !/^https:/.test(link))
      return [...files, ...links].map((what) => `${name} has no ${what}`)
    })
    if (missing.length > 0) throw new Error(missing.join("\n"))
    return "are there"
  })
}

const startSandbox = async () => {
  const project = emptyFolder()
  writeFiles(project)
  const { more, says } = sandboxed
  const sandbox = await shell(project, `npx @stevedore/cli sandbox ${more}`, says)
  const { api, token } = JSON.parse(sandbox.first || "{}")
  const exported = `export STEVEDORE_BASE_URL=${api} STEVEDORE_TOKEN=${token}\n`
  const { said } = await shell(project, `${exported}npx @stevedore/cli upload interview.mp4`)
  const file = /^(\w{22})\t/m.exec(said)?.[1]
  if (file !== undefined) return { end: sandbox.end, service: { exported, file } }
  await sandbox.end()
  throw new Error(`The sandbox does not take a file: ${sandbox.said}${said}`)
}

try {
  registry.publish()
  // of the clone beside a reader's project only what lines need: npm writes where a line says
  cpSync(`${root}/.cache/packed`, `${folder}/stevedore/.cache/packed`, { recursive: true })
  await rehearseInstalls("", (line) => line, () => true)
  await rehearseInstalls(
    "",
    (line) => line.replace(/^npm install/, "pnpm add"),
    (page, line) => !page.includes("/guide/") && !isElsewhere.test(line)
  )
  if (wishes.length === 0) await rehearsePackages()
  const { end, service } = await startSandbox()
  try {
    for (const page of pages) await rehearsePage(page, service)
  } finally {
    await end()
  }
  registry.publishLater()
  await rehearseInstalls(", with a later Effect 4", (line) => line, (_, line) => !line.includes("../stevedore"))
} catch (error) {
  rows.push({ where: "the rehearsal", what: "itself", seconds: 0, outcome: `FAIL ${error}` })
} finally {
  await registry.end()
  rmSync(folder, { recursive: true, force: true })
}

console.log("\n| line | seconds | outcome | where |\n|---|---:|---|---|")
for (const { outcome, seconds, what, where } of rows) {
  console.log(`| \`${what}\` | ${seconds.toFixed(1)} | ${outcome.split("\n")[0]} | ${where} |`)
}
const failures = rows.filter(({ outcome }) => outcome.startsWith("FAIL "))
for (const { outcome, what, where } of failures) console.log(`\n${where}: ${what}\n${outcome}`)
console.log(`\n${rows.length - failures.length} of ${rows.length} as they have to be`)
process.exitCode = failures.length === 0 ? 0 : 1
