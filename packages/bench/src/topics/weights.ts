import * as Effect from "effect/Effect"
import * as BundleSize from "../BundleSize.js"
import * as Machine from "../Machine.js"
import * as Markdown from "../Markdown.js"
import type { Topic } from "../Topic.js"

const versioned = (name: string) => `${name} ${Machine.versionOf(name)}`

const peers = [
  { module: "tus", title: versioned("tus-js-client") },
  { module: "uppy", title: `${versioned("@uppy/core")} and ${versioned("@uppy/aws-s3")}` },
  { module: "uppyDashboard", title: `the same with ${versioned("@uppy/dashboard")}` },
  { module: "libStorage", title: versioned("@aws-sdk/lib-storage") }
] as const

const row = (title: string, { all, first }: BundleSize.Weight): ReadonlyArray<string> => [
  title,
  Markdown.number(first / 1000),
  Markdown.number(all / 1000)
]

const without = (one: BundleSize.Weight, other: BundleSize.Weight): BundleSize.Weight => ({
  first: one.first - other.first,
  all: one.all - other.all
})

/** What a page loads before anybody has chosen a file, and in all. */
export const weights: Topic = {
  name: "weights",
  run: () =>
    Effect.promise(async () => {
      const effect = await BundleSize.inPieces("effectAlone")
      const upload = without(await BundleSize.inPieces("both"), effect)
      const element = await BundleSize.inPieces("element")
      const rows = [
        row("**Stevedore\u2019s upload** on top of an application with Effect", upload),
        row("**its element** on top of the same", {
          first: element.first,
          all: (await BundleSize.inPieces("bothElement")).all - effect.all
        }),
        row("**its element** by itself, including Effect", element)
      ]
      for (const { module, title } of peers) rows.push(row(title, await BundleSize.inPieces(module)))
      return {
        title: "Weight of a page",
        conditions:
          `What a page loads, bundled by esbuild ${
            Machine.versionOf("esbuild")
          } in pieces, minified, each piece gzipped, ` +
          "in kB (1,000 bytes): first, before a file is chosen, and in all, with one language. Style sheets are not counted: " +
          "Uppy's Dashboard has one of its own, and the element's is in its script.",
        body: Markdown.table(["", "first", "in all"], rows),
        goals: [
          { title: "an upload on top of Effect, kB", safe: 36, aim: 34, measured: upload.all / 1000 },
          { title: "the element before a file is chosen, kB", safe: 4, aim: 3, measured: element.first / 1000 }
        ]
      }
    })
}
