import { defineConfig } from "vitest/config"
import { projects } from "./vitest.workspace.js"

export default defineConfig({
  test: {
    projects,
    pool: "forks",
    poolOptions: {
      // state lives in layers, not in modules: a process loads effect once for all the files of a project
      forks: { isolate: false, minForks: 1, maxForks: 2 }
    }
  }
})
