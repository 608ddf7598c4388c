// Runs docgen over all published packages at once: it compiles and runs every `@example`, which imports
// the packages as a user does and gets their src. docgen reads package.json and docgen.json from the folder it runs in and
// insists on a homepage, so it gets a folder of its own, .cache/docs, where the pages land too. With --pages-only it makes the
// pages, in .cache/reference, and leaves the examples.
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { packages, root } from "./packages.mjs"

const pagesOnly = process.argv.includes("--pages-only")
const folder = `${root}/.cache/${pagesOnly ? "reference" : "docs"}`
const fromExamples = "../../../.."

const ts = createRequire(import.meta.url)("typescript")
const { paths } = ts.parseConfigFileTextToJson("tsconfig.json", readFileSync(`${root}/tsconfig.json`, "utf8"))
  .config.compilerOptions

const configuration = {
  srcDir: "../../packages",
  outDir: "pages",
  runExamples: !pagesOnly,
  // said from the second version on
  enforceVersion: false,
  exclude: [
    ...packages.filter(({ published }) => !published).map(({ directory }) => `../../packages/${directory}/**`),
    "../../packages/*/{dist,node_modules,packed,scripts,test}/**",
    "../../packages/*/src/{bin,index}.ts",
    "../../packages/*/src/*/**/*"
  ],
  examplesCompilerOptions: {
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    module: "NodeNext",
    moduleResolution: "NodeNext",
    moduleDetection: "force",
    target: "ES2022",
    lib: ["ES2023", "DOM", "DOM.Iterable"],
    paths: Object.fromEntries(
      Object.entries(paths).map(([name, [target]]) => [name, [target.replace(/^\./, fromExamples)]])
    )
  }
}

mkdirSync(folder, { recursive: true })
// a page of a module that is gone would stay
rmSync(`${folder}/pages`, { recursive: true, force: true })
writeFileSync(`${folder}/package.json`, JSON.stringify({ name: "stevedore", type: "module", homepage: "README.md" }))
writeFileSync(`${folder}/docgen.json`, JSON.stringify(configuration))

const { error, status, stderr, stdout } = spawnSync(process.execPath, [`${root}/node_modules/@effect/docgen/bin.cjs`], {
  cwd: folder,
  encoding: "utf8",
  env: { ...process.env, PATH: `${root}/node_modules/.bin:${process.env.PATH}` },
  timeout: 300_000
})
if (error !== undefined) console.log(`docgen did not end: an example keeps running (${error.message})`)
if (status !== 0) console.log((stdout + stderr).replaceAll("../../packages", "packages"))
process.exitCode = status === 0 ? 0 : 1
