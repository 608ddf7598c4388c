// npx tsx --tsconfig tsconfig.json packages/core/test/upload/writeGolden.ts FILE EVERY
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { cases, endOf, nameOf } from "./golden.js"

const [, , file = "golden.json", every = "1"] = process.argv
const rows: Record<string, string> = {}
for (const [index, one] of cases.entries()) {
  if (index % Number(every) === 0) rows[nameOf(one)] = await Effect.runPromise(endOf(one))
}
writeFileSync(file, `${JSON.stringify(rows, null, 1)}\n`)
console.error(`${Object.keys(rows).length} of ${cases.length} situations`)
