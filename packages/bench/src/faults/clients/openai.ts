import OpenAI, { OpenAIError } from "openai"
import type { Client } from "../Client.js"
import { batches } from "../Client.js"

export const openai: Client = {
  open: async (origin) => {
    const client = new OpenAI({ apiKey: "loopback", baseURL: `${origin}/v1` })
    return batches(await client.files.list({ limit: 100 }), ({ filename }) => [filename])
  },
  isOwnError: (error) => error instanceof OpenAIError
}
