import { assert, beforeAll, describe, it } from "@effect/vitest"
import { cpSync } from "node:fs"
import { join } from "node:path"
import { blocksOf } from "../../../.ci/pages.mjs"
import { compile, install, packed, resolutions, run, trials, versionsOf } from "./project.js"

// as the page prints it: without it, npm refuses the newest atoms beside the peers of these packages
const overrides: unknown = blocksOf("packages/docs/guide/frameworks.md")
  .filter(({ code, language }) => language === "json" && code.includes("\"@effect-atom/atom\""))
  .map(({ code }) => JSON.parse(code).overrides)[0]

describe("atoms of Effect 3 beside what is packed", () => {
  let project = ""

  beforeAll(async () => {
    const own = ["effect", "@effect/platform", "@effect/experimental", "@effect/rpc"]
    project = await install("atoms", {
      own: ["core", "browser", "server", "testing"],
      tarballs: packed().tarballs,
      others: {
        ...versionsOf([...own, "typescript", "@types/node", "@types/ws"]),
        "@effect-atom/atom": "0.5.3"
      },
      overrides
    })
    cpSync(join(trials, "effect3"), project, { recursive: true })
  })

  it("compile as the guide shows them", async () => {
    assert.strictEqual(await compile(project, "typescript", resolutions[0], ["atoms.ts"]), "")
  })

  it("read a list, and an upload to its end", async () => {
    assert.strictEqual(
      await run(project, process.execPath, ["atoms.mjs"]),
      "3 completed: 100 B of 100 B (100 %)"
    )
  })
})
