import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type DefaultTheme, defineConfig } from "vitepress"
import { chart } from "./chart.js"
import { inlineCode } from "./inlineCode.js"
import { writePlainText } from "./plainText.js"
import { tables } from "./tables.js"

const root = fileURLToPath(new URL("../../..", import.meta.url))

// made with the pages of the reference, by scripts/reference.mjs
const referenceFile = `${root}/packages/docs/api/sidebar.json`
const reference: Array<DefaultTheme.SidebarItem> = existsSync(referenceFile)
  ? JSON.parse(readFileSync(referenceFile, "utf8"))
  : []

const description =
  "The Effect SDK that gets files into storage through pre-signed URLs, gets them back, and walks lists"

export default defineConfig({
  title: "Stevedore",
  description,
  lang: "en",
  cacheDir: `${root}/.cache/vitepress`,
  outDir: `${root}/.cache/site`,
  cleanUrls: true,
  // a link that leads nowhere fails the build
  ignoreDeadLinks: false,
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config: (markdown) => {
      tables(markdown)
      inlineCode(markdown)
      const { fence } = markdown.renderer.rules
      markdown.renderer.rules.fence = (tokens, index, options, environment, renderer) => {
        const token = tokens[index]
        return token?.info.trim() === "mermaid"
          ? chart(token.content)
          : fence?.(tokens, index, options, environment, renderer) ?? ""
      }
    }
  },
  vite: {
    resolve: {
      // within this repository, packages resolve to their sources
      alias: [
        { find: /^@stevedore\/([^/]+)$/, replacement: `${root}/packages/$1/src/index.ts` },
        { find: /^@stevedore\/([^/]+)\/(.+)$/, replacement: `${root}/packages/$1/src/$2.ts` }
      ]
    }
  },
  buildEnd: (site) => writePlainText(site, description),
  head: [["link", { rel: "icon", href: "/stevedore.svg", type: "image/svg+xml" }]],
  themeConfig: {
    logo: { src: "/stevedore.svg", alt: "" },
    search: {
      provider: "local",
      options: {
        miniSearch: {
          searchOptions: {
            // whoever searches wants a guide first
            boostDocument: (id: string) => id.startsWith("/api/") ? 0.2 : 1
          }
        }
      }
    },
    outline: [2, 3],
    nav: [
      { text: "Start", link: "/getting-started" },
      { text: "Test", link: "/guide/testing" },
      { text: "How it works", link: "/how-it-works/flow" },
      { text: "Reference", link: "/api/" }
    ],
    sidebar: {
      "/api/": [{ text: "Reference", link: "/api/" }, ...reference],
      "/": [
        {
          text: "Start",
          items: [
            { text: "What it is", link: "/" },
            { text: "Getting started", link: "/getting-started" },
            { text: "Tutorial: an archive", link: "/guide/tutorial" },
            { text: "Set-up: TypeScript, CSP, permissions", link: "/guide/set-up" },
            { text: "Which line of Effect", link: "/guide/effect-versions" },
            { text: "Unstable modules of Effect 4", link: "/reference/unstable-modules" },
            { text: "Where it runs", link: "/guide/runtimes" },
            { text: "Errors and what to do", link: "/guide/errors" },
            { text: "Every error", link: "/reference/errors" },
            { text: "Retry and limits", link: "/guide/retry-and-limits" },
            { text: "Large files on poor connections", link: "/guide/large-files" },
            { text: "Sources and streams", link: "/guide/sources" },
            { text: "Folders and many files", link: "/guide/many-files" },
            { text: "Resume after a crash", link: "/guide/resume" },
            { text: "Lists and checkpoints", link: "/guide/lists" },
            { text: "Moving from another library", link: "/guide/moving-from" },
            { text: "Changelog", link: "/guide/changelog" }
          ]
        },
        {
          text: "Command line",
          items: [
            { text: "Command line", link: "/guide/command-line" },
            { text: "Options of the command", link: "/reference/command-options" },
            { text: "Lines of --json", link: "/reference/json-lines" },
            { text: "Unattended: nohup, systemd, cron, containers", link: "/guide/unattended" },
            { text: "Jobs over several machines", link: "/guide/bulk" },
            { text: "Jobs on a cluster of Effect", link: "/reference/bulk-cluster" },
            { text: "Files for agents", link: "/guide/agents" }
          ]
        },
        {
          text: "In a server",
          items: [
            { text: "Upload from an HTTP request", link: "/guide/http-requests" },
            { text: "When an upload is done", link: "/guide/hooks" },
            { text: "Spans, metrics, logs", link: "/guide/observability" },
            { text: "Limits on what a server can do", link: "/how-it-works/limits-on-peers" }
          ]
        },
        {
          text: "In a page",
          items: [
            { text: "The upload element", link: "/guide/element" },
            { text: "A queue in a page", link: "/guide/frameworks" },
            { text: "Next.js, SvelteKit and Vite", link: "/guide/next-sveltekit" }
          ]
        },
        {
          text: "Your own service",
          items: [
            { text: "Run it", link: "/guide/serve" },
            { text: "Watch it", link: "/guide/watch" },
            { text: "Metrics of the service", link: "/reference/service-metrics" },
            { text: "What a service has to do", link: "/guide/protocol" },
            { text: "Service profiles", link: "/guide/profiles" },
            { text: "List, find and delete files", link: "/guide/list-and-delete" }
          ]
        },
        {
          text: "Test",
          items: [
            { text: "Testing", link: "/guide/testing" },
            { text: "Which faults exist", link: "/reference/faults" },
            { text: "What the sandbox is", link: "/guide/sandbox" },
            { text: "Conformance", link: "/how-it-works/conformance" }
          ]
        },
        {
          text: "Inside",
          items: [
            { text: "The flow", link: "/how-it-works/flow" },
            { text: "What follows from an error", link: "/how-it-works/decisions" },
            { text: "Promises", link: "/how-it-works/promises" },
            { text: "Security", link: "/guide/security" },
            { text: "Benchmarks", link: "/how-it-works/benchmarks" }
          ]
        }
      ]
    },
    footer: { message: "MIT" }
  }
})
