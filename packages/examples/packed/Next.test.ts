import { assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { blocksOf } from "../../../.ci/pages.mjs"
import { install, packed, run, versionsOf } from "./project.js"

const blocks = blocksOf("packages/docs/guide/next-sveltekit.md")

/** A block of the guide that has these words. */
const printed = (words: string): string => blocks.find(({ code }) => code.includes(words))?.code ?? ""

const page = `"use client"
import "@stevedore/browser/element"
import type {} from "@stevedore/browser/react"
export default function Page() {
  return <stevedore-upload base-url="/api/uploads" />
}
`

const layout = `export default function Layout({ children }: { readonly children: React.ReactNode }) {
  return <html lang="en"><body>{children}</body></html>
}
`

describe("a page and a route of Next.js with what is packed", () => {
  let project = ""

  beforeAll(async () => {
    project = await install("next", {
      own: ["core", "browser", "node"],
      tarballs: packed().tarballs,
      others: {
        ...versionsOf(["effect", "@effect/platform", "@effect/platform-node", "typescript", "@types/node"]),
        ...versionsOf(["react", "react-dom", "@types/react"]),
        next: "16.4.6"
      }
    })
    const route = join(project, "app/api/uploads/[...path]")
    mkdirSync(route, { recursive: true })
    writeFileSync(join(route, "uploads.ts"), printed("// uploads.ts"))
    writeFileSync(join(route, "route.js"), printed("export const runtime"))
    writeFileSync(join(project, "app/layout.tsx"), layout)
    writeFileSync(join(project, "app/page.tsx"), page)
  })

  it.each(["--turbopack", "--webpack"])("are built by next build %s, as the guide prints them", async (bundler) => {
    assert.include(await run(project, "npx", ["next", "build", bundler]), "/api/uploads/[...path]")
    assert.isAtMost(page.trim().split("\n").length, 10)
  })
})
