import { existsSync, readdirSync, readFileSync } from "node:fs"

const countIn = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

/** The modules of Effect that these packages stand on and that Effect may change in a minor version: most of their members say so. */
export const unstable = (line: string, packages: ReadonlyArray<string>): ReadonlyArray<string> => {
  const imported = packages.flatMap((name) =>
    readdirSync(`${line}/packages/${name}/src`, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .flatMap((file) => {
        const text = readFileSync(`${line}/packages/${name}/src/${file}`, "utf8")
        return [...text.matchAll(/from "effect\/([\w/]+)"/g)].map(([, module = ""]) => module)
      })
  )
  return [...new Set(imported)].sort().filter((module) => {
    const types = `${line}/node_modules/effect/dist/${module}.d.ts`
    if (!existsSync(types)) return false
    const text = readFileSync(types, "utf8")
    return 2 * countIn(text, /@stability unstable/g) > countIn(text, /^export /gm)
  })
}

/** What a page says of it. */
export const toldIn = (page: string): ReadonlyArray<string> =>
  [...page.matchAll(/`effect\/([\w/]+)`/g)].map(([, module = ""]) => module)
