import { Octokit } from "@octokit/core"
import { paginateRest } from "@octokit/plugin-paginate-rest"
import type { Client } from "../Client.js"
import { batches } from "../Client.js"

const isNamed = (item: unknown): item is { readonly name: string } =>
  typeof item === "object" && item !== null && "name" in item && typeof item.name === "string"

export const octokit: Client = {
  open: async (origin) => {
    const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
    const client = new (Octokit.plugin(paginateRest))({ baseUrl: origin, log: silent })
    const pages = client.paginate.iterator("GET /search/repositories", { q: "x", per_page: 100 })
    return batches(pages, ({ data }) => [...data].filter(isNamed).map(({ name }) => name))
  },
  // its RequestError is named HttpError
  isOwnError: (error) => error instanceof Error && error.name === "HttpError"
}
