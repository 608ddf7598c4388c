/** The walking process: `walk.ts <client> <fault> <origin>`. It may never end; whoever starts it sees to that. */
import { Predicate } from "effect"
import type { Batches, Client, Listing } from "./Client.js"
import { clients, isClientName } from "./clients/index.js"
import { healPath } from "./FaultyServer.js"
import type { Report } from "./Report.js"

const [clientName, fault, origin = ""] = process.argv.slice(2)

const say = (report: Report) => new Promise<void>((resolve) => process.send?.(report, () => resolve()))

const nameOf = (error: unknown): string =>
  Predicate.hasProperty(error, "_tag") && Predicate.isString(error._tag)
    ? error._tag
    : error instanceof Error
    ? error.name === "Error" ? error.constructor.name : error.name
    : typeof error

const describe = (client: Client, error: unknown) => ({
  name: nameOf(error),
  message: error instanceof Error ? error.message.slice(0, 200) : String(error),
  isOwn: client.isOwnError(error)
})

class Count {
  readonly seen = new Set<string>()
  duplicates = 0

  async through(iterator: AsyncIterator<ReadonlyArray<string>>): Promise<void> {
    for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) {
      for (const id of step.value) {
        if (this.seen.has(id)) this.duplicates++
        this.seen.add(id)
        if (this.seen.size % 100 === 0) await say({ _tag: "Progress", items: this.seen.size })
      }
    }
  }
}

const begin = (batches: Batches) => batches[Symbol.asyncIterator]()

/** Once the outage is over, the program wants the rest. */
const goOn = async (list: Listing, interrupted: AsyncIterator<ReadonlyArray<string>>, count: Count) => {
  await fetch(`${origin}${healPath}`)
  await count.through(list.goOn === undefined ? interrupted : begin(list.goOn()))
}

const walk = async (client: Client): Promise<Report> => {
  const count = new Count()
  let again: number | undefined
  try {
    const list = await client.open(origin)
    const iterator = begin(list)
    if (fault === "outage") {
      await count.through(iterator).catch(() => goOn(list, iterator, count))
    } else {
      await count.through(iterator)
    }
    if (fault === "walkedTwice") {
      const second = new Count()
      await second.through(begin(list))
      again = second.seen.size
    }
  } catch (error) {
    return { _tag: "Ended", items: count.seen.size, duplicates: count.duplicates, error: describe(client, error) }
  }
  return {
    _tag: "Ended",
    items: count.seen.size,
    duplicates: count.duplicates,
    ...(again === undefined ? {} : { again })
  }
}

if (!isClientName(clientName)) throw new Error(`No client is called ${clientName}`)
await say(await walk(await clients[clientName].load()))
process.exit(0)
