// Checks what would be published: that every package says who may use it, where and how; that a program can name every type
// it infers from a package; publint and attw on every package; that every public module can be imported by the name its
// users write; and that an editor offers nothing of it that is internal.
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"
import { internals } from "./internals.mjs"
import { packages, packagesForEffect4, root } from "./packages.mjs"
import { unnameable } from "./unnameable.mjs"

let failures = 0

/** @param {string} what @param {string} command @param {ReadonlyArray<string>} args */
const run = (what, command, args) => {
  const { status, stderr, stdout } = spawnSync(`${root}/node_modules/.bin/${command}`, args, {
    cwd: root,
    encoding: "utf8",
    shell: process.platform === "win32"
  })
  console.log(`${status === 0 ? "ok  " : "FAIL"} ${what}`)
  if (status !== 0) {
    failures++
    console.log(stdout + stderr)
  }
}

const { engines, license } = JSON.parse(readFileSync(`${root}/package.json`, "utf8"))

/** @param {Record<string, any>} manifest */
const isForEffect4 = ({ peerDependencies }) => peerDependencies?.effect?.startsWith("~4") === true

/**
 * What a package must have, each in words that complete "must have".
 *
 * @type {ReadonlyArray<readonly [what: string, holds: (manifest: Record<string, any>, path: string) => boolean]>}
 */
const obligations = [
  ["a description", ({ description }) => typeof description === "string" && description.length > 0],
  ["three keywords or more", ({ keywords }) => Array.isArray(keywords) && keywords.length >= 3],
  [`the licence ${license}`, (manifest) => manifest.license === license],
  [
    "engines.node as its line of Effect has it",
    (manifest) => manifest.engines?.node === (isForEffect4(manifest) ? ">=22.19.0" : engines.node)
  ],
  // one line only: nobody shall get a package that was made for the other
  [
    "one line of Effect as its peer, and the tag of that line",
    ({ peerDependencies, publishConfig, version }) =>
      peerDependencies?.effect === undefined ||
      /^\^3\.\d+\.\d+$/.test(peerDependencies.effect) && version.startsWith("0.") && publishConfig.tag === "latest" ||
      /^~4\.\d+\.\d+$/.test(peerDependencies.effect) && !version.startsWith("0.") && publishConfig.tag === "effect4"
  ],
  ["\"type\": \"module\"", ({ type }) => type === "module"],
  // a command's own files run when they are imported, and an element registers itself: nothing else does anything
  [
    "\"sideEffects\": false, or the list of the files of a command or an element",
    ({ bin, sideEffects }) =>
      sideEffects === false ||
      Array.isArray(sideEffects) && (bin !== undefined || sideEffects.every((file) => /\/element\.[jt]s$/.test(file)))
  ],
  [
    "dist, src and CHANGELOG.md in files",
    ({ files }) => ["dist", "src", "CHANGELOG.md"].every((file) => files?.includes(file))
  ],
  ["publishConfig.access public", ({ publishConfig }) => publishConfig?.access === "public"],
  // npm can state it only in a workflow of GitHub or GitLab, and refuses to publish anywhere else if a package demands it
  ["no publishConfig.provenance", ({ publishConfig }) => publishConfig?.provenance === undefined],
  [
    "exports that say of every room of src whether it is closed",
    ({ exports }, path) =>
      readdirSync(`${path}/src`, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .every((room) => exports?.[`./${room.name}/*`] !== undefined)
  ],
  // what runs at a user's install is nobody's business but the user's
  [
    "no script that runs at install",
    ({ scripts }) => !["preinstall", "install", "postinstall", "prepare"].some((script) => script in (scripts ?? {}))
  ],
  [
    "an AGENTS.md of at most 80 lines in files, on the line of Effect 3",
    (manifest, path) =>
      isForEffect4(manifest) || (manifest.files?.includes("AGENTS.md") &&
        readFileSync(`${path}/AGENTS.md`, "utf8").trim().split("\n").length <= 80)
  ],
  ...["README.md", "CHANGELOG.md", "LICENSE"].map((file) => /** @type {const} */ ([
    `a ${file} that says something`,
    (/** @type {unknown} */ _, /** @type {string} */ path) =>
      existsSync(`${path}/${file}`) && readFileSync(`${path}/${file}`, "utf8").trim().split("\n").length > 1
  ]))
]

/** What the README says of the sizes of each package. @type {ReadonlyMap<string, ReadonlyArray<number>>} */
const saidSizes = new Map(
  readFileSync(`${root}/README.md`, "utf8").split("\n").map((row) => [
    /^\| \[`([^`]+)`\]/.exec(row)?.[1] ?? "",
    [...row.matchAll(/([\d.]+) (k|M)B/g)].map(([, size, unit]) => Number(size) * (unit === "k" ? 1e3 : 1e6))
  ])
)

/** Packed and unpacked, in bytes. @param {string} path @returns {ReadonlyArray<number>} */
const sizesOf = (path) => {
  const { stdout } = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: path,
    encoding: "utf8",
    shell: process.platform === "win32"
  })
  const [{ size, unpackedSize }] = Object.values(JSON.parse(stdout))
  return [size, unpackedSize]
}

for (const { name: named, path, published } of [...packages, ...packagesForEffect4]) {
  if (!published) continue
  const manifest = JSON.parse(readFileSync(`${path}/package.json`, "utf8"))
  const name = `${named} ${manifest.version}`
  const missing = obligations.filter(([, holds]) => !holds(manifest, path))
  failures += missing.length
  for (const [what] of missing) console.log(`FAIL ${name} must have ${what}`)
  if (missing.length === 0) console.log(`ok   ${name}: all that a package must have`)
  if (!existsSync(`${path}/dist`)) {
    failures++
    console.log(`FAIL ${name}: no dist`)
    continue
  }
  const modules = readdirSync(`${path}/dist`)
    .filter((file) => file.endsWith(".js"))
    .map((file) => file.slice(0, -3))
    .filter((module) => module !== "bin" && module !== "index")
  const hidden = unnameable(path)
  failures += hidden.length
  for (const type of hidden) console.log(`FAIL ${name}: no program can name ${type}`)
  if (!isForEffect4(manifest)) {
    const [is, said = []] = [sizesOf(path), saidSizes.get(named)]
    const isTrue = is.every((bytes, index) => Math.abs((said[index] ?? 0) - bytes) < bytes / 20)
    console.log(`${isTrue ? "ok  " : "FAIL"} ${name}: sizes in the README within 5 % of ${is.join(" and ")} bytes`)
    if (!isTrue) failures++
  }
  run(`${name}: publint`, "publint", ["run", "--strict", path])
  run(`${name}: attw`, "attw", [
    "--pack",
    path,
    "--profile",
    "esm-only",
    "--format",
    "ascii",
    "--entrypoints",
    ".",
    ...modules
  ])
  const specifiers = [named, ...modules.map((module) => `${named}/${module}`)]
  // by its own name, as it is exported
  const { resolve } = createRequire(`${path}/package.json`)
  /** @type {Array<string>} */
  const broken = []
  for (const specifier of specifiers) {
    await import(pathToFileURL(resolve(specifier)).href).catch((error) => broken.push(`${specifier}\n${error.stack}`))
  }
  failures += broken.length
  console.log(
    broken.length === 0 ? `ok   ${name}: ${specifiers.length} modules imported` : `FAIL import ${broken.join("\n")}`
  )
}

for (const line of [packages, packagesForEffect4]) {
  const built = line.filter(({ path, published }) => published && existsSync(`${path}/dist`)).map(({ path }) => path)
  const wrong = internals(built)
  failures += wrong.length
  console.log(
    wrong.length === 0 ? `ok   ${built.length} packages offer nothing internal` : `FAIL ${wrong.join("\nFAIL ")}`
  )
}

process.exitCode = failures === 0 ? 0 : 1
