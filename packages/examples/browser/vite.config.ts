import { fileURLToPath } from "node:url"
import { defineConfig } from "vite"

const packages = fileURLToPath(new URL("../..", import.meta.url))

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  resolve: {
    // within this repository, packages resolve to their sources
    alias: [
      { find: /^@stevedore\/([^/]+)$/, replacement: `${packages}/$1/src/index.ts` },
      { find: /^@stevedore\/([^/]+)\/(.+)$/, replacement: `${packages}/$1/src/$2.ts` }
    ]
  }
})
