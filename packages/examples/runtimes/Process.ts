/** Node, Bun and Deno: also over the ready-made layer of Node. Writes a line of JSON. */
import { NodeStevedore } from "@stevedore/node"
import { Effect } from "effect"
import process from "node:process"
import { everything, optionsOf } from "./Everything.js"
import { tried } from "./Layers.js"

const [baseUrl = "", token = ""] = process.argv.slice(2)

const overSockets = Effect.provide(everything, NodeStevedore.layer({ ...optionsOf({ baseUrl, token }), ledger: false }))

const all = { ...await tried({ baseUrl, token }), NodeStevedore: await Effect.runPromise(overSockets) }

process.stdout.write(`${JSON.stringify(all)}\n`)
// whatever a runtime keeps open
process.exit(0)
