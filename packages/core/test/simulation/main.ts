// npm run simulate -- --seed N --histories N --workers N
import { availableParallelism } from "node:os"
import { parseArgs } from "node:util"
import { campaign } from "./Campaign.js"
import { mustBeMet } from "./Coverage.js"
import { laws } from "./Laws.js"

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    histories: { type: "string", default: "100000" },
    workers: { type: "string", default: String(availableParallelism()) }
  }
})
const seed = Number(values.seed)
const histories = Number(values.histories)
const workers = Number(values.workers)
if (![seed, histories, workers].every((number) => Number.isSafeInteger(number) && number > 0)) {
  console.error("--seed, --histories and --workers are whole numbers from 1")
  process.exit(2)
}

const beganAt = performance.now()
const secondsPassed = (): string => ((performance.now() - beganAt) / 1000).toFixed(1)

// Fewer may miss what is rare
const enoughForAll = 3000
const thousand = 1000
let told = 0
let known = 0
const report = await campaign({
  seed,
  histories,
  workers,
  onProgress: ({ findings, histories: done }) => {
    for (const { law, seed: found, what } of findings.slice(known)) {
      console.error(`Law ${law} (${laws[law]}) is broken: ${what}\n  npm run simulate -- --seed ${found} --histories 1`)
    }
    known = findings.length
    if (done - told < thousand) return
    told = done
    console.error(`${done} histories, ${findings.length} breaches, ${secondsPassed()} s`)
  }
})

for (const [name, count] of Object.entries(report.met).sort(([one], [other]) => one < other ? -1 : 1)) {
  console.log(`${String(count).padStart(8)}  ${name}`)
}
const missed = histories < enoughForAll ? [] : mustBeMet.filter((name) => report.met[name] === undefined)
if (missed.length > 0) console.log(`\nNever met: ${missed.join(", ")}`)
console.log(`\n${report.histories} histories in ${secondsPassed()} s, ${report.findings.length} breaches`)
process.exitCode = report.findings.length + missed.length > 0 ? 1 : 0
