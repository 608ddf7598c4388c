import * as Effect from "effect/Effect"
import * as BundleSize from "../BundleSize.js"
import * as Machine from "../Machine.js"
import * as Markdown from "../Markdown.js"
import type { Topic } from "../Topic.js"

const versioned = (name: string) => `${name} ${Machine.versionOf(name)}`

const entries = [
  { module: "effectAlone", title: "an application with Effect and its HTTP client, without Stevedore" },
  { module: "both", title: "**the same with Stevedore's upload**" },
  { module: "stevedore", title: "**Stevedore's upload by itself**, including Effect" },
  { module: "queue", title: "**the same with the queue**" },
  { module: "tus", title: versioned("tus-js-client") },
  { module: "uppy", title: `${versioned("@uppy/core")} and ${versioned("@uppy/aws-s3")}` },
  { module: "libStorage", title: versioned("@aws-sdk/lib-storage") }
] as const

const kilobytes = (bytes: number | undefined): string => bytes === undefined ? "–" : Markdown.number(bytes / 1000)

export const bundle: Topic = {
  name: "bundle",
  run: () =>
    Effect.map(
      Effect.forEach(entries, ({ module, title }) =>
        Effect.promise(async () => ({
          title,
          esbuild: await BundleSize.byEsbuild(module),
          rollup: await BundleSize.byRollup(module)
        }))),
      (sizes) => ({
        title: "Bundle size in a page",
        conditions:
          "What a page loads to upload a file, minified and gzipped, in kB (1,000 bytes). A dash means that the bundler " +
          "cannot bundle it without a plugin for CommonJS.",
        body: Markdown.table(
          [
            "",
            `esbuild ${Machine.versionOf("esbuild")}`,
            `rollup ${Machine.versionOf("rollup")} and esbuild's minifier`
          ],
          sizes.map(({ esbuild, rollup, title }) => [title, kilobytes(esbuild), kilobytes(rollup)])
        ),
        goals: []
      })
    )
}
