import { assert, describe, it } from "@effect/vitest"
import { SandboxLayer } from "@stevedore/testing"
import { QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { Effect, ManagedRuntime } from "effect"
import { createElement } from "react"
import { renderToStaticMarkup } from "react-dom/server"
import { Projects, projectsOf } from "../src/ReactProjects.js"

describe("a list in React, by TanStack Query", () => {
  it.live("has the items of each page once, and a button as long as there are more", () =>
    Effect.gen(function*() {
      const runtime = ManagedRuntime.make(SandboxLayer.memory({ projects: 25, largestPage: 10 }))
      yield* Effect.addFinalizer(() => runtime.disposeEffect)
      const options = projectsOf(runtime)
      const client = new QueryClient()
      const shown = (pages: number) =>
        Effect.map(
          Effect.promise(() => client.infiniteQuery({ ...options, pages, staleTime: 0 })),
          () =>
            renderToStaticMarkup(createElement(QueryClientProvider, { client }, createElement(Projects, { options })))
        )
      const first = yield* shown(1)
      assert.lengthOf(first.match(/<li>/g) ?? [], 10)
      assert.include(first, "More projects")
      const all = yield* shown(3)
      assert.lengthOf(all.match(/<li>/g) ?? [], 25)
      assert.notInclude(all, "More projects")
    }).pipe(Effect.scoped))
})
