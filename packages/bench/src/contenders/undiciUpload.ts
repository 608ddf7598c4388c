/** `<origin> <file>`: one PUT by undici. */
import { createReadStream, statSync } from "node:fs"
import { request } from "undici"

const [origin = "", file = ""] = process.argv.slice(2)

const { body, statusCode } = await request(`${origin}/storage/undici`, {
  method: "PUT",
  headers: { "content-length": String(statSync(file).size) },
  body: createReadStream(file, { highWaterMark: 2 ** 20 })
})
await body.dump()
process.exit(statusCode === 200 ? 0 : 1)
