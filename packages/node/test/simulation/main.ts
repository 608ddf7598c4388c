import { Effect } from "effect"
import * as PowerCut from "./powerCut.js"

/* npm run simulate:disk -- [HISTORIES] [FIRST SEED] */

const [histories = 20_000, first = 1] = process.argv.slice(2).map(Number)

const program = Effect.gen(function*() {
  const begun = performance.now()
  let breaches = 0
  for (let seed = first; seed < first + histories; seed++) {
    const breach = yield* PowerCut.history(seed)
    if (breach !== undefined) {
      breaches += 1
      yield* Effect.sync(() => process.stdout.write(`${breach}\n`))
    }
  }
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  yield* Effect.sync(() =>
    process.stdout.write(`${histories} histories from seed ${first}: ${breaches} breaches, ${seconds} s\n`)
  )
  return breaches
})

process.exitCode = (await Effect.runPromise(program)) === 0 ? 0 : 1
