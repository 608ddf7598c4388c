import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { missingSuites } from "./.ci/optional-suites.mjs"

const here = fileURLToPath(new URL(".", import.meta.url)).replace(/[/\\]$/, "")

export default defineConfig({
  resolve: {
    alias: [
      { find: /^line\/(.+)$/, replacement: `${here}/support/$1.mjs` },
      { find: /^@effect\/vitest$/, replacement: `${here}/support/vitest.mjs` },
      { find: /^@stevedore\/([^/]+)$/, replacement: `${here}/packages/$1/src/index.ts` },
      { find: /^@stevedore\/([^/]+)\/(.+)$/, replacement: `${here}/packages/$1/src/$2.ts` }
    ]
  },
  test: {
    root: here,
    include: ["packages/*/test/**/*.test.ts"],
    exclude: ["**/node_modules/**", ...missingSuites.map(({ files }) => `${here}/${files}`)],
    setupFiles: [`${here}/support/assertions.mjs`],
    pool: "forks",
    isolate: false,
    maxWorkers: 2,
    testTimeout: 60_000
  }
})
