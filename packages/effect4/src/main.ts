import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { line, node } from "../../bench/src/Effect4.js"
import { emit } from "./emit.js"
import { pack } from "./pack.js"
import { toldIn, unstable } from "./unstable.js"
import { weights } from "./weight.js"
import { withheld } from "./withheld.js"

/** The packages on the line, each after those that it is built upon. */
const packages = ["core", "server", "testing", "node", "browser"]

const here = dirname(dirname(fileURLToPath(import.meta.url)))
const root = dirname(dirname(here))

const say = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

const run = (command: string, args: ReadonlyArray<string>): void => {
  const { status } = spawnSync(command, args, { cwd: line, stdio: "inherit", shell: process.platform === "win32" })
  if (status !== 0) process.exit(status ?? 1)
}

const isSame = (name: string): boolean =>
  existsSync(`${line}/${name}`) &&
  readFileSync(`${line}/${name}`, "utf8") === readFileSync(`${here}/line/${name}`, "utf8")

const install = (): void => {
  const isInstalled = existsSync(`${line}/node_modules/.package-lock.json`) && isSame("package-lock.json")
  mkdirSync(line, { recursive: true })
  cpSync(`${here}/line`, line, { recursive: true })
  if (!isInstalled) run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"])
}

/** The newest Effect 4, for once: the next run installs what is locked. */
const installNewest = (): void => {
  const { dependencies = {}, devDependencies = {} } = JSON.parse(readFileSync(`${line}/package.json`, "utf8"))
  const names = Object.keys({ ...dependencies, ...devDependencies }).filter((name) =>
    /^(?:@effect\/|effect$)/.test(name)
  )
  const newest = names.map((name) => `${name}@latest`)
  run("npm", ["install", "--no-save", "--force", "--no-audit", "--no-fund", "--loglevel=error", ...newest])
  rmSync(`${line}/node_modules/.package-lock.json`, { force: true })
  for (const name of names) {
    const { version } = JSON.parse(readFileSync(`${line}/node_modules/${name}/package.json`, "utf8"))
    say(`${name} ${version}`)
  }
}

/** What the tests of the files with a second body are called. */
const ofSeams = (): ReadonlyArray<string> =>
  readdirSync(`${here}/seams`, { recursive: true, encoding: "utf8" })
    .flatMap((file) => /([\w]+)(?:\.test)?\.ts$/.exec(file)?.[1] ?? [])
    .map((name) => `${name}.test`)

install()
// what tests read, or run
for (
  const file of [
    ".ci/free-port.mjs",
    ".ci/optional-suites.mjs",
    ".ci/packages.mjs",
    "packages/docs/how-it-works/decisions.md",
    "packages/docs/how-it-works/conformance.md"
  ]
) {
  cpSync(`${root}/${file}`, `${line}/${file}`)
}
if (process.argv.includes("--newest")) installNewest()
const { files, notEmitted, unlisted } = emit(root, line, `${here}/seams`, { packages, withheld })
say(`${files} files written for Effect 4 into .cache/effect4`)
for (const { file, reason } of notEmitted) say(`Not emitted: ${file}: ${reason}`)
for (const { member, place } of unlisted) say(`${place}: ${member} is not in the table of members`)
if (unlisted.length > 0) process.exit(1)
const compile = (...args: ReadonlyArray<string>): void =>
  run(process.execPath, ["node_modules/typescript/bin/tsc", "-p", ...args])
const standing = unstable(line, packages).join(", ")
const told = toldIn(readFileSync(`${root}/packages/docs/reference/unstable-modules.md`, "utf8")).join(", ")
if (standing !== told) {
  say(`The unstable modules of Effect 4 are ${standing}. packages/docs/reference/unstable-modules.md says ${told}`)
  process.exit(1)
}
// also to be weighed: a bundler asks each manifest for its side effects
for (const name of packages) pack(root, line, name)
if (process.argv.includes("--build")) {
  for (const name of packages) {
    // their types were checked with those of the tests
    compile(`packages/${name}/tsconfig.build.json`, "--noCheck")
  }
  say(`${packages.join(", ")}: built for Effect 4`)
} else {
  compile("tsconfig.json", "--noEmit")
  compile("tsconfig.examples.json", "--noEmit")
  say("No type error")
  const heavy = (await weights()).filter(({ budget, bytes, program }) => {
    say(`${program}: ${bytes} bytes in a page, of at most ${budget}`)
    return bytes > budget
  })
  if (heavy.length > 0) process.exit(1)
  if (!process.argv.includes("--no-tests")) {
    const reports = [
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${root}/.cache/vitest-report-effect4.json`
    ]
    const own = node()
    if (own === undefined) {
      say("The tests for Effect 4 need Node 22.19 or later")
      process.exit(1)
    }
    const wishes = process.argv.slice(2)
    run(own, [
      "node_modules/vitest/vitest.mjs",
      "run",
      ...reports,
      ...(wishes.includes("--seams") ? [...ofSeams(), "integration/Postgres.test"] : wishes)
    ])
  }
}
