// Makes one script of the command and all that it needs, with a chunk for each of its parts: a start then reads 6 files
// instead of some 400. Not minified: that is no faster, and a fault could not be read.
import { build } from "esbuild"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url))
const outdir = path("../dist/bundle")

const { metafile } = await build({
  absWorkingDir: path("../../.."),
  entryPoints: [path("../dist/bin.js")],
  outdir,
  bundle: true,
  splitting: true,
  platform: "node",
  format: "esm",
  target: "node20",
  metafile: true,
  logLevel: "warning",
  // what is CommonJS in it asks for it
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"
  }
})

// What is given away as a part of this package keeps its licence: the text of each stands beside it.
const bundled = new Set(
  Object.values(metafile.outputs)
    .flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([input, { bytesInOutput }]) => bytesInOutput > 0 ? [input] : [])
    )
    .flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? [])
)

const licenceOf = (directory) => {
  const root = path(`../../../${directory}`)
  const { license, name, version } = JSON.parse(readFileSync(`${root}/package.json`, "utf8"))
  const file = readdirSync(root).find((one) => /^licen[cs]e/i.test(one))
  if (file === undefined && license === undefined) throw new Error(`${name} has no licence that could be told`)
  return `${name} ${version}: ${license}\n\n${file === undefined ? "" : readFileSync(`${root}/${file}`, "utf8").trim()}`
}

writeFileSync(
  `${outdir}/LICENSES.txt`,
  `The files beside this one contain the packages below.\n\n${
    [...bundled].sort().map(licenceOf).join(`\n\n${"-".repeat(80)}\n\n`)
  }\n`
)
