import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { versionOn4 } from "./version.js"
import { said } from "./weight.js"

/** What may use the line. */
const node = ">=22.19.0"

/** By peer on 3: the range on 4, or nothing for what became a part of `effect`. */
const peers: Readonly<Record<string, string | undefined>> = {
  "effect": "~4.1.0",
  "@effect/platform": undefined,
  "@effect/platform-node": "~4.1.0",
  "@effect/experimental": undefined,
  "@effect/sql": undefined,
  "@effect/sql-pg": "^4.0.5",
  // its client is written for 3
  "libsql": undefined,
  // only types of the element
  "preact": ">=10",
  "react": ">=19",
  "solid-js": ">=1.9",
  "svelte": ">=5",
  "vue": ">=3.5"
}

/** What is a part of `effect` on 3 and a package of its own on 4. */
const ownPackages: Readonly<Record<string, string>> = { "fast-check": "^3.23.0" }

/** What a README says of one line only, and what it says of the other. */
const phrases: ReadonlyArray<readonly [on3: RegExp, on4: string]> = [
  [/ ?@effect\/platform@0\.97/g, ""],
  [/@effect\/platform-node@0\.108/g, "@effect/platform-node@~4.1 @effect/platform-node-shared@~4.1"],
  [/@effect\/vitest@0\.30/g, "@effect/vitest@4"],
  [/\beffect@3\b/g, "effect@~4.1"],
  [/Effect 3 \(`effect` \^3\.22, `@effect\/platform`\s\^0\.97\)/g, "Effect 4 (`effect` ~4.1)"],
  [/\bNode 20\.19\b/g, "Node 22.19"],
  // nothing of this line was tried there
  [/ In Bun and Deno, [^]*? nothing else\./g, ""],
  [/^The same tests run in (?=Chromium)/m, "These packages have the tests of the line for Effect 3, which run in "],
  [
    /^Minified by esbuild .* and gzipped, in kB\.[^]*?measures it again\./m,
    said
  ],
  [/(?<=npm install .*)(@stevedore\/\w+\b)(?!@)/g, "$1@effect4"]
]

const readme = (name: string, text: string): string => {
  const on4 = phrases.reduce((now, [from, to]) => now.replace(from, to), text).replace(
    "\n",
    "\n\nThis is the line for Effect 4, under the tag `effect4`. The one for Effect 3 is version 0.x.\n"
  )
  const left =
    /(?<!line for )Effect 3(?! is version)|effect@3|\^3\.|@effect\/platform(?!-node)\b|platform-node@0|Node 20|\bEither\./
      .exec(on4)?.[0]
  if (left !== undefined) {
    throw new Error(`The README of ${name} says "${left}": packages/effect4/src/pack.ts has no phrase for it`)
  }
  return on4
}

const changelog = (text: string): string =>
  text.replace(
    /^(## |The first version is )(0\.\d+\.\d+\S*?)(?=\.?(?:\s|$))/gm,
    (_, before: string, version: string) => before + versionOn4(version)
  ).replace(
    "\n",
    "\n\nThis is the line for Effect 4. Its versions are those for Effect 3 without their leading zero: 1.0.0 is 0.1.0.\n"
  )

interface Manifest {
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, unknown>>
  readonly devDependencies?: unknown
  readonly engines?: unknown
  readonly publishConfig?: unknown
}

const isOwn = (name: string): boolean => name.startsWith("@stevedore/")

const manifest = (on3: Manifest, uses: (name: string) => boolean): Manifest => {
  const { dependencies = {}, devDependencies: _, peerDependencies = {}, peerDependenciesMeta, ...others } = on3
  const names = Object.keys(peerDependencies)
  const unknown = names.find((name) => !Object.hasOwn(peers, name))
  if (unknown !== undefined) {
    throw new Error(`packages/effect4/src/pack.ts does not say what the peer ${unknown} is on 4`)
  }
  const kept = Object.fromEntries(names.flatMap((name) => {
    const range = peers[name]
    return range === undefined || !uses(name) ? [] : [[name, range]]
  }))
  const all = Object.entries({
    ...dependencies,
    ...Object.fromEntries(Object.entries(ownPackages).filter(([name]) => uses(name)))
  })
  const optional = Object.entries(peerDependenciesMeta ?? {}).filter(([name]) => Object.hasOwn(kept, name))
  return {
    ...others,
    version: versionOn4(on3.version),
    engines: { node },
    publishConfig: { access: "public", tag: "effect4" },
    ...(all.length === 0 ? {} : {
      dependencies: Object.fromEntries(all.map(([name, range]) => [name, isOwn(name) ? versionOn4(range) : range]))
    }),
    peerDependencies: kept,
    ...(optional.length === 0 ? {} : { peerDependenciesMeta: Object.fromEntries(optional) })
  }
}

/** As the package is compiled for Effect 3, but over what stands here: its own sources, and others as they are published. */
const project = (on3: { readonly compilerOptions: Readonly<Record<string, unknown>> }): unknown => {
  const { composite: _, tsBuildInfoFile: __, ...compilerOptions } = on3.compilerOptions
  return {
    extends: "../../tsconfig.json",
    compilerOptions: {
      ...compilerOptions,
      noEmit: false,
      declaration: true,
      declarationMap: true,
      sourceMap: true,
      paths: {}
    },
    include: ["src"]
  }
}

/** Makes a package of what was emitted: everything but `dist`, for which its `tsconfig.build.json` is there. */
export const pack = (root: string, line: string, directory: string): void => {
  const from = `${root}/packages/${directory}`
  const to = `${line}/packages/${directory}`
  const read = (file: string) => readFileSync(`${from}/${file}`, "utf8")
  const write = (file: string, value: unknown) => writeFileSync(`${to}/${file}`, `${JSON.stringify(value, null, 2)}\n`)
  rmSync(`${to}/dist`, { recursive: true, force: true })
  const sources = readdirSync(`${to}/src`, { encoding: "utf8", recursive: true })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(`${to}/src/${file}`, "utf8"))
  const uses = (name: string) => sources.some((text) => new RegExp(`^(?:import|export) .*"${name}["/]`, "m").test(text))
  write("package.json", manifest(JSON.parse(read("package.json")), uses))
  write("tsconfig.build.json", project(JSON.parse(read("tsconfig.build.json"))))
  // its examples were written with the sources
  writeFileSync(`${to}/README.md`, readme(directory, readFileSync(`${to}/README.md`, "utf8")))
  writeFileSync(`${to}/CHANGELOG.md`, changelog(read("CHANGELOG.md")))
  cpSync(`${from}/LICENSE`, `${to}/LICENSE`)
  const link = `${line}/node_modules/@stevedore/${directory}`
  mkdirSync(`${line}/node_modules/@stevedore`, { recursive: true })
  if (!existsSync(link)) symlinkSync(to, link, "junction")
}
