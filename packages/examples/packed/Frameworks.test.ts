// The laws of a field in a page of each framework, as Vite builds them from what is packed.
import { afterAll } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { field } from "../../browser/test/integration/laws/field.js"
import { ChromiumLive } from "../../browser/test/integration/support/chromium.js"
import { Engine } from "../../browser/test/integration/support/engine.js"
import { ExamplePage } from "../../browser/test/integration/support/examplePage.js"
import { install, packed, trials, versionsOf, vite } from "./project.js"

const frameworks = ["react", "preact", "vue", "svelte", "solid"] as const

const build = async (): Promise<string> => {
  const project = await install("frameworks", {
    own: ["core", "browser"],
    tarballs: packed().tarballs,
    others: versionsOf([
      ...["effect", "@effect/platform", "vite"],
      ...["react", "react-dom", "preact", "vue", "svelte", "solid-js"]
    ])
  })
  cpSync(join(trials, "frameworks"), project, { recursive: true })
  for (const name of frameworks) {
    const script = `<script type="module" src="/${name}.js"></script>`
    const page = `<link rel="icon" href="data:,"><stevedore-upload></stevedore-upload>${script}`
    writeFileSync(join(project, `${name}.html`), `<!doctype html><html lang="en"><title>${name}</title>${page}`)
  }
  await vite(project)
  return join(project, "dist")
}

const scope = Effect.runSync(Scope.make())

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

// one browser and one build for all of them
const engine = Effect.runSync(
  Effect.cached(Effect.map(Scope.extend(Layer.build(ChromiumLive), scope), Context.get(Engine)))
)
const built = Effect.runSync(Effect.cached(Effect.promise(build)))

const pagesOf = (framework: string) =>
  Layer.effect(
    ExamplePage,
    Effect.map(built, (folder) => {
      const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.\w+$/.test(name))
      return new Map(names.map((name) => [
        `/${name === `${framework}.html` ? "index.html" : name}`,
        readFileSync(join(folder, name), "utf8")
      ]))
    })
  )

for (const framework of frameworks) {
  field(Layer.effect(Engine, engine), framework, {
    pages: pagesOf(framework),
    // those that take longest are left to the night
    isBrief: process.env.STEVEDORE_NIGHTLY !== "1"
  })
}
