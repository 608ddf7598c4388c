/** `npm run bench`: measures and writes RESULTS.md. */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Bundle from "./Bundle.js"
import { node } from "./Command.js"
import * as Contest from "./Contest.js"
import * as Machine from "./Machine.js"
import * as Markdown from "./Markdown.js"
import * as Options from "./Options.js"
import * as Results from "./Results.js"
import type { Topic } from "./Topic.js"
import { topics } from "./topics/index.js"

const results = fileURLToPath(new URL("../RESULTS.md", import.meta.url))

// What is read at each start of Node, which takes longer than the rest of it: every child is measured without
for (const name of ["NODE_EXTRA_CA_CERTS", "NODE_OPTIONS", "NODE_USE_SYSTEM_CA"]) delete process.env[name]

const options = Options.parse(process.argv.slice(2))
if (options.help) {
  console.log(Options.help(topics.map(({ name }) => name)))
  process.exit(0)
}
const unknown = options.topics.filter((name) => !topics.some((topic) => topic.name === name))
if (unknown.length > 0) {
  console.error(`No topic is called ${unknown.join(", ")}. There are: ${topics.map(({ name }) => name).join(", ")}`)
  process.exit(2)
}

const modules = Effect.promise(async () => {
  const files = await readdir(fileURLToPath(new URL("./contenders", import.meta.url)))
  return ["sink/main", "line/main", "sandbox/main", ...files.map((file) => `contenders/${file.replace(/\.ts$/, "")}`)]
})

const write = (name: string, section: string) =>
  Effect.sync(() => {
    const file = existsSync(results) ? readFileSync(results, "utf8") : undefined
    writeFileSync(results, Results.withSection(file, name, section))
  })

// what differs from machine to machine, and from day to day, beside what was measured there and then
const floors = Effect.map(
  Contest.hold(
    [node("`node -e 0`", ["-e", "0"]), { title: "`curl --version`", program: "curl", words: ["--version"] }],
    {
      runs: 5
    }
  ),
  (standings) => standings.map(({ cpu, title }) => `${title} ${Markdown.spread(cpu)} s of CPU`).join(", ")
)

const run = (topic: Topic, programs: string) =>
  Effect.gen(function*() {
    yield* Console.error(topic.name)
    const machine = `${Machine.describe()}; ${yield* floors}`
    const section = yield* topic.run({ ...options, programs, folder: yield* Bundle.folder })
    const text = Results.render(section, { date: yield* Machine.today, machine })
    yield* Console.log(`${text}\n`)
    if (!options.print) yield* write(topic.name, text)
  }).pipe(Effect.scoped)

Effect.gen(function*() {
  const folder = yield* Bundle.folder
  const programs = join(folder, "programs")
  yield* Bundle.programs(yield* modules, programs)
  const wished = options.topics.length === 0 ? topics : topics.filter(({ name }) => options.topics.includes(name))
  yield* Effect.forEach(wished, (topic) => run(topic, programs), { discard: true })
}).pipe(Effect.scoped, NodeRuntime.runMain)
