// Makes the API reference of the documentation's site from what docgen writes: a page a module that is for users, an index a
// package, and the sidebar, in packages/docs/api, which nobody edits and git does not keep.
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { packages, root } from "../../../.ci/packages.mjs"
import { doors } from "./doors.mjs"

const target = `${root}/packages/docs/api`
const docgen = `${root}/.cache/reference`
const order = Object.keys(doors)
const published = packages.filter((one) => one.published)
  .sort((a, b) => order.indexOf(a.directory) - order.indexOf(b.directory))

const { status } = spawnSync(process.execPath, [`${root}/.ci/check-docs.mjs`, "--pages-only"], { stdio: "inherit" })
if (status !== 0) process.exit(1)

/**
 * What a page says must not be taken for HTML or for a template of Vue's. Code in backticks is safe already.
 *
 * @param {string} line
 */
const escaped = (line) =>
  line.split(/(`+[^`]*`+)/).map((piece) =>
    piece.startsWith("`")
      ? piece
      : piece.replaceAll("<", "&lt;").replaceAll("{{", "&#123;&#123;").replaceAll(/\{@link ([^}]+)\}/g, "`$1`")
  ).join("")

/** @param {string} text */
const capitalized = (text) => text.charAt(0).toUpperCase() + text.slice(1)

/**
 * A page of docgen's, as one of the site: its front matter and its table of contents go, since the site has both, and so do
 * the labels that say what anyone sees.
 *
 * @param {string} text
 * @returns {{ about: string, body: ReadonlyArray<string> }}
 */
const read = (text) => {
  const lines = text.slice(text.indexOf("\n## ") + 1).split("\n").slice(1)
  const contents = lines.findIndex((line) => line.startsWith("<h2 class=\"text-delta\""))
  const head = contents === -1 ? lines : lines.slice(0, contents)
  const about = head.filter((line) => line !== "---" && !line.startsWith("Added in ")).map(escaped).join("\n").trim()
  /** @type {Array<string>} */
  const body = []
  let fenced = false
  const rest = contents === -1 ? [] : lines.slice(contents)
  for (const line of rest.slice(rest.indexOf("---") + 1)) {
    if (line.startsWith("```")) {
      fenced = !fenced
      body.push(line)
    } else if (fenced) {
      // what is exported from elsewhere is called a value of its own type
      body.push(line.replace(/^export declare const (\w+): \1$/, "export { $1 }"))
    } else if (/^# \S/.test(line)) {
      body.push(`## ${escaped(capitalized(line.slice(2)))}`)
    } else if (/^#{2,4} \S/.test(line)) {
      body.push(`#${escaped(line)}`)
    } else if (line === "**Signature**") {
      continue
    } else {
      body.push(escaped(line))
    }
  }
  return { about, body }
}

/** @param {string} about */
const firstSentence = (about) =>
  (about.split("\n\n")[0] ?? "").replaceAll("\n", " ").replace(/^(.*?\.) .*$/, "$1").replace(/:$/, ".").replaceAll(
    "|",
    "\\|"
  )

/** @param {string} file @param {ReadonlyArray<string>} lines */
const write = (file, lines) =>
  writeFileSync(`${target}/${file}`, `${lines.join("\n").replaceAll(/\n{3,}/g, "\n\n").trim()}\n`)

rmSync(target, { recursive: true, force: true })
const groups = published.map(({ directory, name, path }) => {
  mkdirSync(`${target}/${directory}`, { recursive: true })
  const { description } = JSON.parse(readFileSync(`${path}/package.json`, "utf8"))
  const folder = `${docgen}/pages/packages/${directory}/src`
  const known = readdirSync(folder)
    .flatMap((file) => /^(\w+)\.ts\.md$/.exec(file)?.[1] ?? [])
    .filter((module) => module !== "index" && existsSync(`${path}/src/${module}.ts`))
  const { groups = {}, hides = false } = doors[directory] ?? {}
  const modules = Object.values(groups).flat()
  const lost = [
    ...known.filter((module) => !hides && !modules.includes(module)).map((module) => `${module} is in no group`),
    ...modules.filter((module) => !known.includes(module)).map((module) => `${module} does not exist`)
  ]
  if (lost.length > 0) throw new Error(`doors.mjs, ${name}: ${lost.join(", ")}`)
  /** @param {string} module */
  const rowOf = (module) => {
    const { about, body } = read(readFileSync(`${folder}/${module}.ts.md`, "utf8"))
    write(`${directory}/${module}.md`, [
      "---",
      "editLink: false",
      "---",
      "",
      `# ${module}`,
      "",
      `\`${name}/${module}\``,
      "",
      about,
      "",
      ...body
    ])
    return `| [\`${module}\`](./${module}) | ${firstSentence(about)} |`
  }
  const tables = Object.entries(groups).flatMap(([title, modules]) => [
    `## ${title}`,
    "",
    "| | |",
    "|---|---|",
    ...modules.map(rowOf),
    ""
  ])
  write(`${directory}/index.md`, [`# ${name}`, "", `${description}.`, "", ...tables])
  return { directory, name, description, groups, modules }
})

write("index.md", [
  "# Reference",
  "",
  "What applications use, from the comments in its source. Each module has a path of its own: `@stevedore/core/Uploads`.",
  "",
  "**Start here** has what most programs call. **Ports** are interfaces that you may implement, and **adapters** what",
  "implements them.",
  "",
  "| | |",
  "|---|---|",
  ...groups.map(({ description, directory, name }) => `| [\`${name}\`](./${directory}/) | ${description} |`)
])
writeFileSync(
  `${target}/sidebar.json`,
  JSON.stringify(groups.map(({ directory, groups, name }) => ({
    text: name,
    link: `/api/${directory}/`,
    collapsed: true,
    items: Object.entries(groups).map(([text, modules]) => ({
      text,
      items: modules.map((module) => ({ text: module, link: `/api/${directory}/${module}` }))
    }))
  })))
)
console.log(
  `${
    groups.reduce((sum, { modules }) => sum + modules.length, 0)
  } modules of ${groups.length} packages in the reference`
)
