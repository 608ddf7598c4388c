import { compile } from "svelte/compiler"
import { defineConfig } from "vite"

const svelte = {
  name: "svelte",
  transform: (code, filename) =>
    filename.endsWith(".svelte") ? compile(code, { filename, generate: "client" }).js : undefined
}

const pages = ["react", "preact", "vue", "svelte", "solid"]

export default defineConfig({
  plugins: [svelte],
  build: { modulePreload: false, rollupOptions: { input: pages.map((name) => `${name}.html`) } }
})
