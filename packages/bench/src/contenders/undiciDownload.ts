/** `<URL> <target>`: one GET by undici into a file. */
import { createWriteStream } from "node:fs"
import { pipeline } from "node:stream/promises"
import { request } from "undici"

const [url = "", target = ""] = process.argv.slice(2)

const { body } = await request(url)
await pipeline(body, createWriteStream(target))
process.exit(0)
