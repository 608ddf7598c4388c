import * as Effect from "effect/Effect"
import * as BundleSize from "../BundleSize.js"
import * as Machine from "../Machine.js"
import * as Markdown from "../Markdown.js"
import type { Topic } from "../Topic.js"

const versioned = (name: string) => `${name} ${Machine.versionOf(name)}`

const entries = [
  { module: "effectAlone", title: "an application with Effect and its HTTP client, without us" },
  { module: "both", title: "**the same with our upload**" },
  { module: "stevedore", title: "**our upload by itself**, Effect included" },
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
        title: "Size in a page",
        conditions:
          "Minified and gzipped, in kB (1,000 bytes): what a page loads to upload a file. A dash: the bundler " +
          "does not take it without a plugin for CommonJS.",
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
