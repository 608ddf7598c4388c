// npm run lawful -- --seed N --services N --workers N
import { Effect } from "effect"
import { parseArgs } from "node:util"
import * as ServiceVariation from "../variation/ServiceVariation.js"
import { differences, fewest, findings } from "./Journey.js"

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    services: { type: "string", default: "10000" },
    why: { type: "boolean", default: false }
  }
})
const seed = Number(values.seed)
const services = Number(values.services)
if (![seed, services].every((number) => Number.isSafeInteger(number) && number > 0)) {
  console.error("--seed and --services are whole numbers from 1")
  process.exit(2)
}

const beganAt = performance.now()
const secondsPassed = (): string => ((performance.now() - beganAt) / 1000).toFixed(1)

const kinds = new Map<string, { count: number; seed: number }>()
let through = 0
for (let index = 0; index < services; index++) {
  const variation = ServiceVariation.fromSeed(seed + index)
  const found = await Effect.runPromise(findings(variation))
  if (found.length === 0) through++
  for (const { step, what } of found) {
    const kind = `${step}: ${
      what.replaceAll(/, request \w+/g, "").replaceAll(/[0-9A-Za-z_-]{22}/g, "ID").replaceAll(/\d+/g, "N").slice(0, 260)
    }`
    const known = kinds.get(kind)
    if (known === undefined) kinds.set(kind, { count: 1, seed: variation.seed })
    else known.count++
  }
  if ((index + 1) % 500 === 0) console.error(`${index + 1} services, ${through} came through, ${secondsPassed()} s`)
}

for (
  const [kind, { count, seed: first }] of [...kinds].sort(([, one], [, other]) => other.count - one.count).slice(0, 40)
) {
  const variation = ServiceVariation.fromSeed(first)
  const [step = ""] = kind.split(":")
  const why = values.why ? await Effect.runPromise(fewest(variation, step)) : differences(variation)
  console.log(`\n${count} x ${kind}\n  npm run lawful -- --seed ${first} --services 1\n  ${JSON.stringify(why)}`)
}
console.log(`\n${through} of ${services} services came through, ${secondsPassed()} s`)
process.exitCode = through === services ? 0 : 1
