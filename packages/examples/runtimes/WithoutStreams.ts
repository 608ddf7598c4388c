/** A runtime as React Native's: its `fetch` has no `Response.body`, and there is neither `crypto` nor `structuredClone`. */
import process from "node:process"
import { tried } from "./Layers.js"

const fetched = globalThis.fetch

class Whole extends Response {
  override get body() {
    return null
  }
}

const whole: typeof fetch = async (input, init) => {
  const response = await fetched(input, init)
  return new Whole(await response.arrayBuffer(), { status: response.status, headers: response.headers })
}

Object.defineProperty(globalThis, "fetch", { value: whole })
for (const name of ["crypto", "structuredClone"]) Object.defineProperty(globalThis, name, { value: undefined })

const [baseUrl = "", token = ""] = process.argv.slice(2)

const { "core over fetch": overFetch } = await tried({ baseUrl, token })

process.stdout.write(`${JSON.stringify({ "core over fetch": overFetch })}\n`)
process.exit(0)
