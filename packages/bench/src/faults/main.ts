/** `npm run bench:faults`: compares the paginators and writes FAULTS.md. */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import * as Machine from "../Machine.js"
import type { ClientName } from "./clients/index.js"
import { clientNames, clients, isClientName } from "./clients/index.js"
import * as Comparison from "./Comparison.js"
import { names } from "./Fault.js"
import { itemCount } from "./FaultyList.js"
import * as Table from "./table.js"

const introduction = `# Seven faults of paginated services

What becomes of a walk over ${itemCount} items in pages of 100 when the service has one of the faults that services have:
the paginators of other SDKs, with their defaults, against one faulty server that speaks each one's wire form, and ours
against the same. Every walk is a process of its own. It is stopped as *endless* when it has made eight times the requests
that the list needs, and as *asleep* when it neither ends nor asks for 15 seconds.

**Right** is every item, once; where no cursor leads to all items, or the wait would be absurd, it is an error that says
so. What ends like a complete list while items are missing is **lost**: no program can know.

Made by \`npm run bench:faults\`.
`

const wishes = process.argv.slice(2)
const wished = wishes.length === 0 ? clientNames : wishes.filter(isClientName)

const column = (program: string) => (name: ClientName) =>
  Effect.gen(function*() {
    const observations = yield* Effect.forEach(names, (fault) =>
      Effect.tap(Comparison.observe(program, name, fault), (seen) =>
        Console.error(name, fault, `${seen.items} items, ${seen.requests} requests`, seen.end)))
    return { title: `${clients[name].package} ${Machine.versionOf(clients[name].package)}`, observations }
  })

Effect.gen(function*() {
  const columns = yield* Effect.forEach(wished, column(yield* Comparison.program), { concurrency: 2 })
  const table = Table.render(columns)
  yield* Console.log(table)
  if (wishes.length > 0) return
  const date = yield* Machine.today
  yield* Effect.promise(() =>
    writeFile(
      fileURLToPath(new URL("../../FAULTS.md", import.meta.url)),
      `${introduction}\n${date}, ${Machine.describe()}.\n\n${table}\n`
    )
  )
}).pipe(Effect.scoped, NodeRuntime.runMain)
