import { execFile } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { packages, packagesForEffect4, root } from "../../../.ci/packages.mjs"

/** The packages as npm has packed them: the file of each, by its directory. */
export type Tarballs = Readonly<Record<string, string>>

export interface Packed {
  /** Where the projects of these tests are made. */
  readonly folder: string
  readonly tarballs: Tarballs
  readonly tarballsForEffect4: Tarballs
  /** A project with every version of Node that is promised. */
  readonly runtimes: string
}

const made = "STEVEDORE_PACKED"

/** Says to every process of the tests what was packed. */
export const provide = (packed: Packed): void => {
  process.env[made] = JSON.stringify(packed)
}

/** What was packed for these tests. */
export const packed = (): Packed => JSON.parse(process.env[made] ?? "{}")

export type Package = typeof packages[number]

export const published: ReadonlyArray<Package> = packages.filter((one) => one.published)

/** The lowest version that is promised, and the newest of each line that is supported. */
export const nodes = ["20.19.0", "20", "22", "24", "26"] as const

/** The same for the packages for Effect 4. */
export const nodesForEffect4 = ["22.19.0", "24", "26"] as const

export const trials = `${root}/packages/examples/packed/trials`

// not what npm tells its own scripts, and nothing of whoever runs this
export const environment = (folder: string): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) =>
      !/^(?:STEVEDORE_|VITEST|NODE_OPTIONS$|NODE_ENV$|npm_(?!config_(?:registry|cache|userconfig)$))/i.test(name)
    )
  ),
  XDG_STATE_HOME: join(folder, "state"),
  XDG_CACHE_HOME: join(folder, "cache"),
  NO_COLOR: "1"
})

export interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Wishes {
  readonly folder?: string
  readonly variables?: Readonly<Record<string, string>>
}

/** Runs a command to its end, for four minutes at most. */
export const ended = (cwd: string, command: string, args: ReadonlyArray<string>, wishes: Wishes = {}): Promise<Ended> =>
  new Promise((resolve) => {
    const env = { ...environment(wishes.folder ?? packed().folder), ...wishes.variables }
    const options = { cwd, env, killSignal: "SIGKILL", maxBuffer: 64 * 1024 * 1024, timeout: 240_000 } as const
    const child = execFile(command, [...args], options, (error, stdout, stderr) => {
      const cause = error !== null && child.exitCode === null ? error.message : ""
      resolve({ status: child.exitCode, stdout, stderr: `${stderr}${cause}` })
    })
  })

/** What a command wrote that ended well. A failure says all of it. */
export const run = async (
  cwd: string,
  command: string,
  args: ReadonlyArray<string>,
  wishes: Wishes = {}
): Promise<string> => {
  const { status, stderr, stdout } = await ended(cwd, command, args, wishes)
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: exit ${status}\n${stdout}${stderr}`)
  return stdout.trim()
}

export const json = (file: string) => JSON.parse(readFileSync(file, "utf8"))

/** The versions that this repository is tested with. */
export const known: Readonly<Record<string, string>> = Object.assign(
  {},
  ...[root, ...packages.map(({ path }) => path)].map((path) => {
    const { dependencies, devDependencies } = json(`${path}/package.json`)
    return { ...dependencies, ...devDependencies }
  })
)

export const versionsOf = (names: ReadonlyArray<string>): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, known[name] ?? "*"]))

export interface Wanted {
  /** Directories of packages of this repository. */
  readonly own?: ReadonlyArray<string>
  readonly tarballs?: Tarballs
  readonly others?: Readonly<Record<string, string>>
  /** As npm takes them. */
  readonly overrides?: unknown
}

/** An empty project with only these packages in it, installed without install scripts. */
export const install = async (name: string, wanted: Wanted, folder = packed().folder): Promise<string> => {
  const project = join(folder, name)
  mkdirSync(project)
  const dependencies = {
    ...Object.fromEntries(
      (wanted.own ?? []).map((directory) => [`@stevedore/${directory}`, `file:${wanted.tarballs?.[directory]}`])
    ),
    ...wanted.others
  }
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({ name: `trial-${name}`, private: true, type: "module", dependencies, overrides: wanted.overrides })
  )
  const words = ["install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"]
  await run(project, "npm", words, { folder })
  return project
}

// needs peers that are optional
const withPeers = [
  "@stevedore/server/NodeServe",
  "@stevedore/server/NodeProduction",
  "@stevedore/server/Sqlite",
  ...["preact", "react", "solid", "svelte", "vue"].map((framework) => `@stevedore/browser/${framework}`)
]

/** The public modules of packages, by the name that their users write. */
export const modulesOf = (those: ReadonlyArray<Package>): ReadonlyArray<string> =>
  those.filter(({ directory }) => directory !== "cli").flatMap(({ name, path }) =>
    readdirSync(`${path}/dist`)
      .filter((file) => file.endsWith(".js") && file !== "index.js")
      .map((file) => `${name}/${file.slice(0, -3)}`)
      .filter((module) => !withPeers.includes(module))
  )

export const modules = modulesOf(published)

export const modulesForEffect4 = modulesOf(packagesForEffect4)

/** Writes a file that has the declarations of every module: what they import has to be found too. */
export const writeModules = (project: string, those: ReadonlyArray<string>): void =>
  writeFileSync(
    join(project, "modules.ts"),
    `${those.map((name, index) => `export * as m${index} from "${name}"`).join("\n")}\n`
  )

export const resolutions = [["NodeNext", "NodeNext"], ["ESNext", "Bundler"]] as const

/** Checks the types of files of a project by one of the compilers in its `node_modules`. */
export const compile = (
  project: string,
  compiler: string,
  [module, moduleResolution]: readonly [module: string, moduleResolution: string],
  files: ReadonlyArray<string>
): Promise<string> => {
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
  return run(project, process.execPath, [`node_modules/${compiler}/bin/tsc`, "-p", config])
}

export const vite = (project: string, ...words: ReadonlyArray<string>): Promise<string> =>
  run(project, process.execPath, ["node_modules/vite/bin/vite.js", "build", ...words, "--logLevel", "warn"])

/** The scripts of a page that was built. */
export const scriptsOf = (page: string): string => {
  const assets = join(page, "dist/assets")
  return readdirSync(assets)
    .filter((file) => file.endsWith(".js"))
    .map((file) => readFileSync(join(assets, file), "utf8"))
    .join("\n")
}

/** Node of a version, of those that are promised. */
export const nodeOf = (wanted: string): string => join(packed().runtimes, "node_modules", `node-${wanted}`, "bin/node")
