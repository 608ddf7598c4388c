// What people search for, in the index of the site as it was built: the right page is among the first three. And what a page
// promises to programs that read documentation is there.
import MiniSearch from "minisearch"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { root } from "../../../.ci/packages.mjs"
import { pages } from "../../../.ci/pages.mjs"

const searches = {
  "tutorial": "/guide/tutorial",
  "typescript": "/guide/set-up",
  "docker": "/guide/unattended",
  "changelog": "/guide/changelog",
  "delete file": "/guide/list-and-delete",
  "resume after crash": "/guide/resume",
  "progress": "/guide/large-files",
  "react": "/guide/frameworks",
  "next.js": "/guide/next-sveltekit",
  "content security policy": "/guide/set-up",
  "http request": "/guide/http-requests",
  "error codes": "/guide/errors",
  "rate limit": "/guide/retry-and-limits",
  "systemd": "/guide/unattended",
  "effect 4": "/guide/effect-versions",
  "benchmark": "/how-it-works/benchmarks",
  "mock in tests": "/guide/testing",
  "csv manifest": "/guide/command-line",
  "several machines": "/guide/bulk",
  "self-hosted service": "/guide/serve"
}

const chunks = `${root}/.cache/site/assets/chunks`
const [file] = readdirSync(chunks).filter((name) => name.startsWith("@localSearchIndexroot"))
const { default: text } = await import(`${chunks}/${file}`)
// as the site's own search box reads it
const index = MiniSearch.loadJSON(text, {
  fields: ["title", "titles", "text"],
  storeFields: ["title", "titles"],
  searchOptions: {
    fuzzy: 0.2,
    prefix: true,
    boost: { title: 4, text: 2, titles: 1 },
    boostDocument: (/** @type {string} */ id) => id.startsWith("/api/") ? 0.2 : 1
  }
})

const missed = Object.entries(searches).flatMap(([words, page]) => {
  const first = [...new Set(index.search(words).map(({ id }) => String(id).replace(/#.*/, "")))].slice(0, 3)
  return first.includes(page) ? [] : [`"${words}" finds ${first.join(", ")}, not ${page}`]
})
for (const line of missed) console.log(line)
console.log(
  `${Object.keys(searches).length - missed.length} of ${Object.keys(searches).length} searches find their page`
)
const promised = pages.flatMap((page) =>
  [...readFileSync(`${root}/${page}`, "utf8").matchAll(/\]\((\/llms[^)]*)\)/g)].map(([, file]) => file)
)
const absent = promised.filter((file) => !existsSync(`${root}/.cache/site${file}`))
console.log(`${promised.join(", ")}: ${absent.length === 0 ? "there" : `not there: ${absent.join(", ")}`}`)
process.exitCode = missed.length === 0 && promised.length > 0 && absent.length === 0 ? 0 : 1
