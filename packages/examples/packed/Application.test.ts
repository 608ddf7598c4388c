import { assert, beforeAll, describe, it } from "@effect/vitest"
import { cpSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { chromiumPath } from "../../../.ci/optional-suites.mjs"
import {
  compile,
  install,
  json,
  modules,
  nodeOf,
  nodes,
  packed,
  published,
  resolutions,
  run,
  scriptsOf,
  trials,
  versionsOf,
  vite,
  writeModules
} from "./project.js"

/** Packages of Effect's own with an install script. All of them bring binaries too, and work without either. */
const withScripts = ["@parcel/watcher", "msgpackr-extract"]

const effect = ["effect", "@effect/platform", "@effect/platform-node", "@effect/sql", "@effect/experimental"]

const { tarballs } = packed()

describe("what is packed, in an empty project", () => {
  let application = ""

  beforeAll(async () => {
    application = await install("application", {
      own: ["core", "node", "browser", "server", "testing", "bulk"],
      tarballs,
      // the declarations of @effect/platform-node want those of ws, where declarations are checked too
      others: versionsOf([...effect, "typescript", "@types/node", "@types/ws", "vite"])
    })
    cpSync(trials, application, { recursive: true })
    writeModules(application, modules)
  })

  it("needs no install script", () => {
    const { packages: installed } = json(join(application, "package-lock.json"))

    /** As Node looks for it: beside, and then further up. */
    const find = (from: string, name: string): string | undefined => {
      for (let path = from;; path = path.slice(0, Math.max(path.lastIndexOf("node_modules/") - 1, 0))) {
        const candidate = `${path === "" ? "" : `${path}/`}node_modules/${name}`
        if (candidate in installed) return candidate
        if (path === "") return undefined
      }
    }
    const collect = (path: string, seen: Set<string>): Set<string> => {
      if (seen.has(path)) return seen
      seen.add(path)
      const { dependencies, optionalDependencies, peerDependencies } = installed[path]
      for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
        const found = find(path, name)
        if (found !== undefined) collect(found, seen)
      }
      return seen
    }

    const free = ["core", "node", "browser", "server", "bulk"]
    const tree = new Set(free.flatMap((name) => [...collect(`node_modules/@stevedore/${name}`, new Set())]))
    const scripts = [...tree].filter((path) => installed[path].hasInstallScript === true)
      .map((path) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length))
    assert.isAbove(tree.size, free.length)
    assert.deepStrictEqual(scripts.filter((name) => !withScripts.includes(name)), [])
  })

  it.each(resolutions)("has its types by module %s and moduleResolution %s", async (...resolution) => {
    assert.strictEqual(
      await compile(application, "typescript", resolution, ["upload.ts", "modules.ts", "page/main.ts"]),
      ""
    )
  })

  it("makes a page by Vite that needs nothing of Node, and uploads", async () => {
    await vite(application, "page")
    assert.notMatch(scriptsOf(join(application, "page")), /["']node:[a-z/]+["']|__vite-browser-external/)
    assert.isDefined(chromiumPath)
    assert.match(await uploadFrom(join(application, "page/dist")), /\S/)
  })

  it("makes a page by React that has its types, and uploads", async () => {
    const react = await reactProject()
    await run(react, process.execPath, ["node_modules/typescript/bin/tsc", "-p", "."])
    await vite(react)
    assert.match(await uploadFrom(join(react, "dist")), /\S/)
  })

  let made: Promise<string> | undefined
  const reactProject = (): Promise<string> => made ??= makeReactProject()
  const makeReactProject = async (): Promise<string> => {
    const project = await install("react", {
      own: ["core", "node", "browser", "server", "testing"],
      tarballs,
      others: versionsOf([
        ...effect,
        "react",
        "react-dom",
        "@types/react",
        "@types/react-dom",
        "typescript",
        "vite",
        "playwright-core"
      ])
    })
    cpSync(join(trials, "react"), project, { recursive: true })
    return project
  }

  /** Uploads a file from a page that was built. */
  const uploadFrom = async (page: string): Promise<string> =>
    run(await reactProject(), process.execPath, ["upload.mjs", chromiumPath ?? "", page])

  describe.each(nodes)("on Node %s", (wanted) => {
    it("uploads", async () => {
      assert.match(await run(application, nodeOf(wanted), ["upload.mjs"]), /\S/)
    })

    it("every module is imported", async () => {
      const specifiers = published.filter(({ directory }) => directory !== "cli").map(({ name }) => name).concat(
        modules
      )
      const program = `for (const name of ${JSON.stringify(specifiers)}) await import(name)`
      assert.isAbove(specifiers.length, readdirSync(application).length)
      assert.strictEqual(await run(application, nodeOf(wanted), ["--input-type=module", "--eval", program]), "")
    })
  })
})
