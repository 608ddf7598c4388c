import { defineConfig } from "vitest/config"
import { projects } from "./vitest.workspace.js"

export default defineConfig({
  test: {
    projects,
    pool: "forks",
    poolOptions: { forks: { minForks: 1, maxForks: 2 } }
  }
})
