// npm run mutate -- --seed N --mutants N --minutes N
//
// How well the quick tests notice wrong code: mutants of a random sample are compiled in all at once, and chosen one by
// one. It fails only where one survives that tests have learned to notice: those stand in learned.json.
import { spawn } from "node:child_process"
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { parseArgs } from "node:util"
import ts from "typescript"
import { apart, type Mutant, mutantsOf, sampleOf } from "./mutants.js"

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    mutants: { type: "string", default: "200" },
    minutes: { type: "string", default: "45" }
  }
})
const seed = Number(values.seed)
const deadline = performance.now() + Number(values.minutes) * 60_000

const root = new URL("../../../..", import.meta.url).pathname.replace(/\/$/, "")
const folder = `${root}/.cache/mutation`
const reachedFile = `${folder}/reached.jsonl`
mkdirSync(folder, { recursive: true })

interface Learned {
  readonly file: string
  readonly text: string
  readonly instead: string
}

const learned: ReadonlyArray<Learned> = JSON.parse(
  readFileSync(`${root}/packages/bench/src/mutation/learned.json`, "utf8")
)
const isLearned = ({ file, instead, text }: Mutant): boolean =>
  learned.some((one) => one.file === file && one.text === text && one.instead === instead)

const sources = ["core", "node", "server", "browser", "cli"].flatMap((name) =>
  readdirSync(`${root}/packages/${name}/src`, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => `packages/${name}/src/${file}`)
)
const all = sources.flatMap((file) => mutantsOf(root, file))
const sample = apart([...all.filter(isLearned), ...sampleOf(all, Number(values.mutants), seed)])
writeFileSync(`${folder}/sample.json`, JSON.stringify(sample))
console.log(`${sample.length} of ${all.length} mutants, by seed ${seed}`)

const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs")

const said = `${folder}/said.txt`
let endTests = () => false
process.once("exit", () => endTests())
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1))

/** How a run of tests ends; null if it does not in time. What it has started ends with it: a mutant may never do so. */
const test = (variables: Readonly<Record<string, string>>, timeout: number, ...words: ReadonlyArray<string>) =>
  new Promise<number | null>((resolve) => {
    const output = openSync(said, "w")
    const run = spawn(
      process.execPath,
      [vitest, "run", "--config", "packages/bench/src/mutation/vitest.config.ts", "--silent", ...words],
      { cwd: root, env: { ...process.env, ...variables }, detached: true, stdio: ["ignore", output, output] }
    )
    endTests = () => run.pid !== undefined && process.kill(-run.pid, "SIGKILL")
    const limit = setTimeout(endTests, timeout)
    run.once("exit", (code) => {
      endTests = () => false
      clearTimeout(limit)
      closeSync(output)
      resolve(code)
    })
  })

rmSync(reachedFile, { force: true })
const report = `${folder}/report.json`
const first = await test({ MUTANTS_REACHED: reachedFile }, 1_800_000, "--reporter=json", `--outputFile=${report}`)
if (first !== 0 || !existsSync(reachedFile)) {
  console.log(`The tests fail with nothing changed:\n${readFileSync(said, "utf8")}`)
  process.exit(1)
}

/** Milliseconds that each file of tests took. */
const took = new Map<string, number>(
  JSON.parse(readFileSync(report, "utf8")).testResults.map((
    { endTime, name, startTime }: { readonly endTime: number; readonly name: string; readonly startTime: number }
  ) => [name, endTime - startTime])
)

const filesOf = new Map<number, Array<string>>()
for (const line of readFileSync(reachedFile, "utf8").trim().split("\n")) {
  const { file, reached }: { readonly file: string; readonly reached: ReadonlyArray<number> } = JSON.parse(line)
  for (const number of reached) filesOf.set(number, [...filesOf.get(number) ?? [], file])
}

const options = ts.parseJsonConfigFileContent(
  ts.readConfigFile(`${root}/tsconfig.json`, ts.sys.readFile).config,
  ts.sys,
  root
).options
const texts = new Map<string, string>()
const versions = new Map<string, number>()
const service = ts.createLanguageService({
  getCompilationSettings: () => options,
  getCurrentDirectory: () => root,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  getScriptFileNames: () => [...texts.keys()],
  getScriptVersion: (file) => String(versions.get(file) ?? 0),
  getScriptSnapshot: (file) => {
    const text = texts.get(file) ?? ts.sys.readFile(file)
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
  },
  fileExists: ts.sys.fileExists,
  readFile: ts.sys.readFile,
  readDirectory: ts.sys.readDirectory
})

/** Whether the compiler refuses a mutant. */
const isRefused = ({ end, file, instead, start }: Mutant): boolean => {
  const path = `${root}/${file}`
  const text = readFileSync(path, "utf8")
  const replace = (changed: string): number => {
    texts.set(path, changed)
    versions.set(path, (versions.get(path) ?? 0) + 1)
    return service.getSemanticDiagnostics(path).length + service.getSyntacticDiagnostics(path).length
  }
  const without = replace(text)
  return replace(text.slice(0, start) + instead + text.slice(end)) > without
}

const survivors: Array<Mutant> = []
const ends = {
  "noticed by tests": 0,
  "noticed by the compiler": 0,
  "not noticed by tests that reach it": 0,
  "reached by the wider suites only, if at all": 0,
  "not tried for lack of time": 0
}
for (const [number, mutant] of sample.entries()) {
  if (performance.now() > deadline) {
    ends["not tried for lack of time"]++
    continue
  }
  const files = (filesOf.get(number) ?? []).sort((one, other) => (took.get(one) ?? 0) - (took.get(other) ?? 0))
  const usual = files.reduce((sum, file) => sum + (took.get(file) ?? 0), 0)
  // one that hangs is noticed as well
  const isNoticed = files.length > 0 &&
    await test({ MUTANT: String(number) }, Math.round(30_000 + 4 * usual), "--bail=1", "--reporter=dot", ...files) !== 0
  const isLost = !isNoticed && !isRefused(mutant)
  ends[
    isNoticed
      ? "noticed by tests"
      : !isLost
      ? "noticed by the compiler"
      : files.length > 0
      ? "not noticed by tests that reach it"
      : "reached by the wider suites only, if at all"
  ]++
  if (!isLost) continue
  survivors.push(mutant)
  const { file, instead, line, text } = mutant
  const short = (code: string) => JSON.stringify(code.length > 100 ? `${code.slice(0, 100)}…` : code)
  console.log(`${file}:${line}: ${short(text)} -> ${short(instead)} (${files.length} files reach it)`)
}
for (const [end, count] of Object.entries(ends)) console.log(`${String(count).padStart(5)}  ${end}`)
const byTests = ends["noticed by tests"]
const byAll = byTests + ends["noticed by the compiler"]
const reached = byAll + ends["not noticed by tests that reach it"]
const percent = (part: number) => (100 * part / reached).toFixed(0)
console.log(`of ${reached}, ${percent(byTests)} % are noticed by tests, ${percent(byAll)} % with the compiler`)
const again = survivors.filter(isLearned)
for (const { file, line } of again) console.log(`${file}:${line}: this one tests had learned to notice`)
process.exitCode = again.length === 0 ? 0 : 1
