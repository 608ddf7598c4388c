import { Client as Notion, isNotionClientError, iteratePaginatedAPI, LogLevel } from "@notionhq/client"
import type { Client } from "../Client.js"
import { batches } from "../Client.js"

export const notion: Client = {
  open: async (origin) => {
    const client = new Notion({ auth: "loopback", baseUrl: origin, logLevel: LogLevel.ERROR })
    return batches(iteratePaginatedAPI(client.users.list, { page_size: 100 }), ({ id }) => [id])
  },
  isOwnError: isNotionClientError
}
