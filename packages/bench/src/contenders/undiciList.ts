/**
 * `<base URL> <items> <token>`: the same walk by undici and a loop, with none of the checks: no Schema, no repeats, no end
 * that is known to be one. Writes the most heap that was live after a collection, in bytes, and the seconds.
 */
import { Agent, request } from "undici"

const [baseUrl = "", items = "0", token = ""] = process.argv.slice(2)

const dispatcher = new Agent({ connections: 1, pipelining: 1 })

interface ListPage {
  readonly data: ReadonlyArray<unknown>
  readonly page: { readonly next_cursor?: string | null }
}

const isListPage = (answer: unknown): answer is ListPage =>
  typeof answer === "object" && answer !== null && "data" in answer && "page" in answer

const get = async (cursor: string | undefined): Promise<ListPage> => {
  const start = cursor === undefined ? "" : `&page[start_cursor]=${encodeURIComponent(cursor)}`
  const answer = await request(`${baseUrl}/v1/projects?page[limit]=100${start}`, {
    dispatcher,
    headers: { authorization: `Bearer ${token}` }
  })
  const page: unknown = await answer.body.json()
  if (!isListPage(page)) throw new Error("No page")
  return page
}

const before = performance.now()

// as many looks at a short list as at a long one: the most of many is more than the most of few
const every = Math.max(1, Math.floor(Number(items) / 20))

let came = 0
let heap = 0
let cursor: string | undefined
do {
  const { data, page } = await get(cursor)
  for (let index = 0; index < data.length; index++) {
    if (++came % every === 0) {
      globalThis.gc?.()
      heap = Math.max(heap, process.memoryUsage().heapUsed)
    }
  }
  cursor = page.next_cursor ?? undefined
} while (cursor !== undefined)

if (came !== Number(items)) throw new Error(`${came} items came`)
process.stdout.write(`${heap} ${(performance.now() - before) / 1000}`)
await dispatcher.close()
