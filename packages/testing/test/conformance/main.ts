import { Effect, Layer } from "effect"
import * as page from "./page.js"
import { store } from "./StoreTarget.js"
import { markdown, outcomes } from "./table.js"
import { sandbox } from "./Target.js"

// `npm run conformance`: prints the table, and fails when there is a difference without a reason. With --write it becomes
// part of the documentation.

const program = Effect.gen(function*() {
  const all = yield* outcomes
  const table = markdown(all)
  const problems = all.flatMap(({ problems, row }) => problems.map((problem) => `${row.title}: ${problem}`))
  yield* Effect.sync(() => {
    console.log(table)
    console.error(
      problems.length === 0
        ? "\nNo difference without a reason."
        : `\n${problems.length} differences without a reason:\n${problems.join("\n")}`
    )
    if (problems.length > 0) {
      process.exitCode = 1
    } else if (process.argv.includes("--write")) {
      page.write(table)
    }
  })
})

void Effect.runPromise(Effect.provide(program, Layer.merge(sandbox, store)))
