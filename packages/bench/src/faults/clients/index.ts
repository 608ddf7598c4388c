/** The clients under comparison. They are loaded one by one: each runs in a process of its own. */
import type { Client } from "../Client.js"
import type { Dialect } from "../Dialects.js"
import * as Dialects from "../Dialects.js"

interface Entry {
  /** The package from npm, or ours. */
  readonly package: string
  readonly dialect: Dialect
  readonly load: () => Promise<Client>
}

const entries = {
  stevedore: {
    package: "@stevedore/core",
    dialect: Dialects.stevedore,
    load: async () => (await import("./stevedore.js")).stevedore
  },
  stripe: { package: "stripe", dialect: Dialects.stripe, load: async () => (await import("./stripe.js")).stripe },
  openai: { package: "openai", dialect: Dialects.openai, load: async () => (await import("./openai.js")).openai },
  octokit: {
    package: "@octokit/plugin-paginate-rest",
    dialect: Dialects.octokit,
    load: async () => (await import("./octokit.js")).octokit
  },
  aws: { package: "@aws-sdk/client-s3", dialect: Dialects.s3, load: async () => (await import("./aws.js")).aws },
  notion: {
    package: "@notionhq/client",
    dialect: Dialects.notion,
    load: async () => (await import("./notion.js")).notion
  },
  effectAws: {
    package: "@effect-aws/client-s3",
    dialect: Dialects.s3,
    load: async () => (await import("./effectAws.js")).effectAws
  }
} satisfies Record<string, Entry>

export type ClientName = keyof typeof entries

export const clients: Readonly<Record<ClientName, Entry>> = entries

export const isClientName = (text: string | undefined): text is ClientName =>
  text !== undefined && Object.hasOwn(clients, text)

export const clientNames = Object.keys(clients).filter(isClientName)
