// Uses the packages as their users will: what `npm pack` makes of each is installed into an empty project, without install
// scripts, and tried from TypeScript, from JavaScript on every line of Node that is promised, from Vite, and as a command.
// Wants `npm run build` first. Everything happens in a temporary directory, and nothing listens but on the loopback.
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { chromiumPath } from "./optional-suites.mjs"
import { packages, packagesForEffect4, root } from "./packages.mjs"

/** The lowest version that is promised, and the newest of each line that is supported. */
const nodes = ["20.19.0", "20", "22", "24", "26"]

/** The same for the packages for Effect 4. */
const nodesForEffect4 = ["22.19.0", "24", "26"]

/** Packages of Effect's own with an install script. All of them bring binaries too, and work without either. */
const withScripts = ["@parcel/watcher", "msgpackr-extract"]

const seconds = (/** @type {number} */ count) => count * 1000

const folder = mkdtempSync(join(tmpdir(), "stevedore-try-"))
process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) process.on(signal, () => process.exit(1))

// not what npm tells its own scripts, and nothing of whoever runs this
const environment = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) =>
      !/^(?:STEVEDORE_|NODE_OPTIONS$|npm_(?!config_(?:registry|cache|userconfig)$))/i.test(name)
    )
  ),
  XDG_STATE_HOME: join(folder, "state"),
  XDG_CACHE_HOME: join(folder, "cache"),
  NO_COLOR: "1"
}

/**
 * Runs a command to its end and gives what it wrote. A failure says all of it.
 *
 * @param {string} cwd
 * @param {string} command
 * @param {ReadonlyArray<string>} args
 * @param {number} [timeout] in milliseconds
 * @param {Record<string, string>} [variables]
 */
const run = (cwd, command, args, timeout = seconds(120), variables = {}) => {
  const { error, signal, status, stderr, stdout } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    env: { ...environment, ...variables },
    killSignal: "SIGKILL",
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === "win32",
    timeout
  })
  if (status !== 0) {
    throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? signal ?? `exit ${status}`}\n${stdout}${stderr}`)
  }
  return stdout.trim()
}

const failed = /** @type {Array<string>} */ ([])

/**
 * @param {string} what
 * @param {() => string} trial gives what there is to say
 */
const attempt = (what, trial) => {
  const start = performance.now()
  const took = () => `${((performance.now() - start) / 1000).toFixed(1)} s`
  try {
    const said = trial()
    console.log(`ok   ${what}: ${said} (${took()})`)
    return true
  } catch (error) {
    failed.push(what)
    console.log(`FAIL ${what} (${took()})\n${error instanceof Error ? error.message : error}`)
    return false
  }
}

/** The same, where nothing can be tried without it. @type {typeof attempt} */
const must = (what, trial) => attempt(what, trial) || process.exit(1)

/** @param {string} file */
const json = (file) => JSON.parse(readFileSync(file, "utf8"))

const published = packages.filter((one) => one.published)
const tarballs = /** @type {Record<string, string>} */ ({})
const tarballsForEffect4 = /** @type {Record<string, string>} */ ({})

/** The versions that this repository is tested with. @type {Record<string, string>} */
const known = Object.assign(
  {},
  ...[root, ...packages.map(({ path }) => path)].map((path) => {
    const { dependencies, devDependencies } = json(`${path}/package.json`)
    return { ...dependencies, ...devDependencies }
  })
)

/**
 * An empty project with only these packages in it.
 *
 * @param {string} name
 * @param {ReadonlyArray<string>} own directories of packages of this repository
 * @param {Record<string, string>} others
 * @param {Record<string, string>} [from] the packages, by directory
 */
const install = (name, own, others, from = tarballs) => {
  const project = join(folder, name)
  mkdirSync(project)
  const dependencies = {
    ...Object.fromEntries(own.map((directory) => [`@stevedore/${directory}`, `file:${from[directory]}`])),
    ...others
  }
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({ name: `trial-${name}`, private: true, type: "module", dependencies })
  )
  run(
    project,
    "npm",
    ["install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"],
    seconds(300)
  )
  return project
}

/** @param {ReadonlyArray<string>} names */
const versionsOf = (names) => Object.fromEntries(names.map((name) => [name, known[name] ?? "*"]))

/** @param {typeof packages} those @param {Record<string, string>} into */
const pack = (those, into) =>
  those.map(({ directory, path }) => {
    if (!existsSync(`${path}/dist`)) throw new Error(`${directory} is not built: run "npm run build" first`)
    const [packed] = JSON.parse(run(path, "npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder]))
    into[directory] = join(folder, packed.filename)
    return `${directory} ${Math.round(packed.size / 1024)} KiB`
  }).join(", ")

must("npm pack", () => pack(published, tarballs))
must("npm pack, for Effect 4", () => pack(packagesForEffect4, tarballsForEffect4))

const effect = ["effect", "@effect/platform", "@effect/platform-node", "@effect/sql", "@effect/experimental"]
let application = ""
let command = ""
let runtimes = ""

must("installed into an empty project, without install scripts", () => {
  application = install(
    "application",
    ["core", "node", "browser", "server", "testing", "bulk"],
    // the declarations of @effect/platform-node want those of ws, where declarations are checked too
    versionsOf([...effect, "typescript", "@types/node", "@types/ws", "vite"])
  )
  cpSync(`${root}/.ci/trials`, application, { recursive: true })
  return `${readdirSync(join(application, "node_modules")).length} entries in node_modules`
})

must("the command installed into an empty project, without install scripts", () => {
  command = install("command", ["core", "node", "server", "testing", "cli"], {})
  return `${readdirSync(join(command, "node_modules")).length} entries in node_modules`
})

attempt("no package needs an install script", () => {
  const { packages: installed } = json(join(application, "package-lock.json"))

  /** As Node looks for it: beside, and then further up. @type {(from: string, name: string) => string | undefined} */
  const find = (from, name) => {
    for (let path = from;; path = path.slice(0, Math.max(path.lastIndexOf("node_modules/") - 1, 0))) {
      const candidate = `${path === "" ? "" : `${path}/`}node_modules/${name}`
      if (candidate in installed) return candidate
      if (path === "") return undefined
    }
  }

  /** @param {string} path @param {Set<string>} seen */
  const collect = (path, seen) => {
    if (seen.has(path)) return seen
    seen.add(path)
    const { dependencies, optionalDependencies, peerDependencies } = installed[path]
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const found = find(path, name)
      if (found !== undefined) collect(found, seen)
    }
    return seen
  }

  const free = ["core", "node", "browser", "server", "bulk"]
  const tree = new Set(free.flatMap((name) => [...collect(`node_modules/@stevedore/${name}`, new Set())]))
  const scripts = [...tree].filter((path) => installed[path].hasInstallScript === true)
    .map((path) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length))
  const unknown = scripts.filter((name) => !withScripts.includes(name))
  if (unknown.length > 0) throw new Error(`These have an install script: ${unknown.join(", ")}`)
  return `${tree.size} packages, of which ${scripts.join(" and ") || "none"} (Effect's own) could run one and need not`
})

// every public module, as declarations: what they import has to be found too
/** @param {typeof packages} those */
const modulesOf = (those) =>
  those.filter(({ directory }) => directory !== "cli").flatMap(({ directory, name, path }) =>
    readdirSync(`${path}/dist`)
      .filter((file) => file.endsWith(".js") && file !== "index.js")
      .map((file) => ({ directory, name: `${name}/${file.slice(0, -3)}` }))
      // needs peers that are optional
      .filter(({ name }) => !["@stevedore/server/NodeServe", "@stevedore/server/NodeProduction"].includes(name))
  )
const modules = modulesOf(published)

/** @param {string} project @param {ReadonlyArray<{ name: string }>} those */
const writeModules = (project, those) =>
  writeFileSync(
    join(project, "modules.ts"),
    `${those.map(({ name }, index) => `export * as m${index} from "${name}"`).join("\n")}\n`
  )
if (application !== "") writeModules(application, modules)

const resolutions = /** @type {const} */ ([["NodeNext", "NodeNext"], ["ESNext", "Bundler"]])

/**
 * Checks the types of files of a project.
 *
 * @param {string} project
 * @param {string} compiler in `node_modules`
 * @param {string} module
 * @param {string} moduleResolution
 * @param {ReadonlyArray<string>} files
 */
const compile = (project, compiler, module, moduleResolution, files) => {
  const config = `tsconfig.${moduleResolution}.json`
  const compilerOptions = {
    module,
    moduleResolution,
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    target: "ES2022",
    lib: ["ES2022", "DOM", "DOM.Iterable"],
    types: ["node"],
    // the declarations themselves are tried
    skipLibCheck: false
  }
  writeFileSync(join(project, config), JSON.stringify({ compilerOptions, files }))
  run(project, process.execPath, [`node_modules/${compiler}/bin/tsc`, "-p", config], seconds(240))
}

for (const [module, moduleResolution] of resolutions) {
  attempt(`TypeScript, moduleResolution ${moduleResolution}`, () => {
    compile(application, "typescript", module, moduleResolution, ["upload.ts", "modules.ts", "page/main.ts"])
    return `a program, a page and ${modules.length} modules have their types`
  })
}

/** Makes the page of a project. @param {string} project */
const bundle = (project) => {
  run(project, process.execPath, ["node_modules/vite/bin/vite.js", "build", "page", "--logLevel", "warn"])
  const assets = join(project, "page/dist/assets")
  const scripts = readdirSync(assets).filter((file) => file.endsWith(".js"))
  const code = scripts.map((file) => readFileSync(join(assets, file), "utf8")).join("\n")
  const foreign = /["']node:[a-z/]+["']|__vite-browser-external/.exec(code)?.[0]
  if (foreign !== undefined) throw new Error(`The page needs ${foreign}, which no browser has`)
  const size = scripts.reduce((sum, file) => sum + statSync(join(assets, file)).size, 0)
  return `a page of ${Math.round(size / 1024)} KiB`
}

attempt("Vite", () => bundle(application))

let react = ""

attempt("React", () => {
  react = install(
    "react",
    ["core", "node", "browser", "server", "testing"],
    versionsOf([
      ...effect,
      "react",
      "react-dom",
      "@types/react",
      "@types/react-dom",
      "typescript",
      "vite",
      "playwright-core"
    ])
  )
  cpSync(`${root}/.ci/trials/react`, react, { recursive: true })
  run(react, process.execPath, ["node_modules/typescript/bin/tsc", "-p", "."], seconds(240))
  run(react, process.execPath, ["node_modules/vite/bin/vite.js", "build", "--logLevel", "warn"])
  return "its types, and a page"
})

/** Uploads a file from a built page. @param {string} page */
const uploadFrom = (page) =>
  chromiumPath === undefined
    ? "there is no Chromium to upload from"
    : run(react, process.execPath, ["upload.mjs", chromiumPath, page])

attempt("React: in a browser", () => uploadFrom(join(react, "dist")))
attempt("Vite: in a browser", () => uploadFrom(join(application, "page/dist")))

const version = json(`${root}/packages/cli/package.json`).version

attempt("npx stevedore", () => {
  const said = run(command, "npx", ["--no-install", "stevedore", "--version"])
  if (said !== version) throw new Error(`It says ${said}, and is ${version}`)
  return said
})

attempt("versions of Node", () => {
  const platform = process.platform === "win32" ? "win" : process.platform
  const names = [...new Set([...nodes, ...nodesForEffect4])].map((
    node
  ) => [`node-${node}`, `npm:node-${platform}-${process.arch}@${node}`])
  runtimes = install("runtimes", [], Object.fromEntries(names))
  return `${names.length} from the registry`
})

/** @param {string} project @param {string} wanted */
const nodeIn = (project, wanted) =>
  join(project, "node_modules", `node-${wanted}`, "bin", process.platform === "win32" ? "node.exe" : "node")

if (runtimes !== "") {
  for (const wanted of nodes) {
    const node = nodeIn(runtimes, wanted)
    let name = `Node ${wanted}`
    if (!attempt(name, () => name = `Node ${run(folder, node, ["--version"])}`)) continue
    attempt(`${name}: JavaScript`, () => run(application, node, ["upload.mjs"]))
    attempt(`${name}: every module is imported`, () => {
      const specifiers = published.filter(({ directory }) => directory !== "cli").map((one) => one.name)
        .concat(modules.map((module) => module.name))
      const program = `for (const name of ${JSON.stringify(specifiers)}) await import(name)`
      run(application, node, ["--input-type=module", "--eval", program])
      return `${specifiers.length}`
    })
    const stevedore = (/** @type {Array<string>} */ ...words) =>
      run(command, node, ["node_modules/@stevedore/cli/bin/stevedore.cjs", ...words])
    attempt(`${name}: stevedore --version`, () => {
      const said = stevedore("--version")
      if (said !== version) throw new Error(`It says ${said}, and is ${version}`)
      return said
    })
    attempt(`${name}: what stevedore compiled is kept for its user alone`, () => {
      const kept = join(folder, "cache/stevedore-compiled")
      rmSync(kept, { recursive: true, force: true })
      stevedore("--version")
      const { mode } = statSync(kept)
      const [file, ...others] = readdirSync(kept)
      if (file === undefined || others.length > 0 || (mode & 0o077) !== 0) {
        throw new Error(`${file} and ${others.length} others, mode ${mode.toString(8)}`)
      }
      const { mtimeMs, size } = statSync(join(kept, file))
      stevedore("--version")
      if (statSync(join(kept, file)).mtimeMs !== mtimeMs) throw new Error("It is compiled again at each start")
      return `${file}, ${Math.round(size / 1024)} KiB`
    })
    attempt(`${name}: stevedore upload --help`, () => {
      const help = stevedore("upload", "--help")
      if (!help.includes("stevedore upload")) throw new Error(help)
      return `${help.split("\n").length} lines`
    })
  }
}

// --- Effect 4: what a new project gets today, and uploads with to a service of the other line

let forEffect4 = ""

attempt("Effect 4: installed beside the effect of the registry, and the peers that are published", () => {
  const peers = packagesForEffect4.flatMap(({ path }) =>
    Object.keys(json(`${path}/package.json`).peerDependencies ?? {})
  )
  forEffect4 = install(
    "effect4",
    packagesForEffect4.map(({ directory }) => directory),
    {
      ...Object.fromEntries(peers.map((name) => [name, "latest"])),
      "typescript": known.typescript ?? "*",
      "typescript7": "npm:typescript@7",
      "@types/node": "22",
      ...versionsOf(["vite"])
    },
    tarballsForEffect4
  )
  cpSync(`${root}/.ci/trials/effect4`, forEffect4, { recursive: true })
  cpSync(`${root}/.ci/trials/page`, join(forEffect4, "page"), { recursive: true })
  writeModules(forEffect4, modulesOf(packagesForEffect4))
  writeFileSync(join(forEffect4, "interview.mp4"), new Uint8Array(12_000_000).map((_, index) => (index * 7) % 251))
  const { packages: installed } = json(join(forEffect4, "package-lock.json"))
  const copies = Object.keys(installed).filter((path) => path.endsWith("node_modules/effect"))
  if (copies.length !== 1) throw new Error(`Copies of effect: ${copies.join(", ")}`)
  return `effect ${installed["node_modules/effect"].version}`
})

if (forEffect4 !== "") {
  for (const compiler of ["typescript", "typescript7"]) {
    for (const [module, moduleResolution] of resolutions) {
      const { version } = json(join(forEffect4, "node_modules", compiler, "package.json"))
      attempt(`Effect 4: TypeScript ${version}, moduleResolution ${moduleResolution}`, () => {
        compile(forEffect4, compiler, module, moduleResolution, [
          "upload.ts",
          "files.ts",
          "fakes.ts",
          "page/main.ts",
          "modules.ts"
        ])
        return `three programs, a page and ${modulesOf(packagesForEffect4).length} modules have their types`
      })
    }
  }
  attempt("Effect 4: Vite", () => bundle(forEffect4))
  attempt("Effect 4: in a browser", () => uploadFrom(join(forEffect4, "page/dist")))
  const sandbox = spawn(
    process.execPath,
    ["node_modules/@stevedore/cli/bin/stevedore.cjs", "sandbox", "--port", "0", "--storage-port", "0", "--json"],
    { cwd: command, env: environment, stdio: ["ignore", "pipe", "ignore"] }
  )
  process.on("exit", () => sandbox.kill())
  const [listening] = await once(createInterface(sandbox.stdout), "line")
  const { api, token } = JSON.parse(listening)
  for (const wanted of runtimes === "" ? [] : nodesForEffect4) {
    for (const program of ["upload.ts", "files.ts", "fakes.ts"]) {
      attempt(`Effect 4: ${program} on Node ${wanted}`, () =>
        // the types are stripped by Node itself
        run(forEffect4, nodeIn(runtimes, wanted), [program], seconds(120), {
          STEVEDORE_BASE_URL: api,
          STEVEDORE_TOKEN: token
        }))
    }
    attempt(`Effect 4: what came back on Node ${wanted} is what went up`, () => {
      const stored = join(forEffect4, "interview-as-stored.mp4")
      const bytes = readFileSync(stored)
      if (!bytes.equals(readFileSync(join(forEffect4, "interview.mp4")))) throw new Error("It is not")
      rmSync(stored)
      return `${bytes.length} bytes`
    })
  }
  sandbox.kill()
}

console.log(
  failed.length === 0 ? "\nThe packages work as they are published." : `\nFailed: ${failed.join("; ")}`
)
process.exitCode = failed.length === 0 ? 0 : 1
