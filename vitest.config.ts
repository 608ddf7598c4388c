import { defineConfig } from "vitest/config"
import { root } from "./.ci/packages.mjs"
import { projects } from "./vitest.workspace.js"

export default defineConfig({
  test: {
    projects: [...projects],
    setupFiles: [
      `${root}/.ci/assertions.mjs`,
      `${root}/packages/testing/test/support/runs.ts`
    ],
    pool: "forks",
    env: { XDG_CACHE_HOME: `${root}/.cache/compiled` },
    poolOptions: {
      // state lives in layers, not in modules: a process loads effect once for all the files of a project
      forks: { isolate: false, minForks: 1, maxForks: 2 }
    }
  }
})
