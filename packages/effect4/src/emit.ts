import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, resolve } from "node:path"
import ts from "typescript"
import { type Example, examplesOf, placeInFile, shown, withExamples } from "./examples.js"
import { formatted } from "./format.js"
import { isBarrel, moduleNames, rowOfImport } from "./members.js"
import { lastName, rendering, type Unlisted, withReplaced } from "./render.js"
import { seamOf } from "./seams.js"
import { versionOn4 } from "./version.js"

interface Imported {
  readonly module: string
  readonly local: string
  readonly isType: boolean
}

const isOfEffect = (module: string): boolean => /^(?:effect|@effect\/(?:platform|sql))(?:\/|$)/.test(module)

/** The names of a file's import, each as the module that it is the namespace of, or as itself. */
export const emitFile = (
  file: ts.SourceFile,
  checker: ts.TypeChecker,
  root: string,
  seamPath: string | undefined,
  unlisted: (one: Unlisted) => void
): string => {
  const needs = new Map<string, string>()
  const need = (module: string): string => {
    const known = needs.get(module)
    if (known !== undefined) return known
    const local = ownName(file, module) ?? lastName(module)
    needs.set(module, local)
    return local
  }
  const seam = seamOf(seamPath)
  const { render } = rendering(checker, root, seam, need, unlisted)
  const body: Array<{ readonly from: number; readonly to: number; readonly text: string }> = []
  const imports: Array<ts.ImportDeclaration> = []
  for (const statement of file.statements) {
    if (ts.isImportDeclaration(statement)) {
      imports.push(statement)
      continue
    }
    body.push({ from: statement.getStart(), to: statement.getEnd(), text: render(statement) })
  }
  seam.checkUsed(file.fileName)
  const firstAt = file.statements[0]?.getStart() ?? 0
  const lastImport = imports.at(-1)
  const head = file.text.slice(0, firstAt)
  const from = lastImport === undefined ? firstAt : lastImport.getEnd()
  const rest = withReplaced(file.text, from, file.text.length, body)
  const names = namesIn(rest)
  const used = (name: string) => names.has(name)
  const lines = importLines(imports, needs, used, seam.imports)
  return lines.length === 0
    ? head + rest.trimStart()
    : `${head}${lines.join("\n")}${rest.startsWith("\n") ? "" : "\n"}${rest}`
}

/** All identifiers of a text, but for those behind a dot. */
const namesIn = (text: string): ReadonlySet<string> => {
  const names = new Set<string>()
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && !isBehindDot(node)) names.add(node.text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile("a.tsx", text, ts.ScriptTarget.ES2022, true, ts.ScriptKind.TS))
  return names
}

const isBehindDot = (node: ts.Identifier): boolean =>
  (ts.isPropertyAccessExpression(node.parent) && node.parent.name === node) ||
  (ts.isQualifiedName(node.parent) && node.parent.right === node)

/** Whether a module is called by its own name, which is another on 4: Either, which is Result there. */
const isRenamed = (local: string, from: string, to: string): boolean =>
  to.includes("/") && local === lastName(from) && lastName(from) !== lastName(to)

const ownName = (file: ts.SourceFile, module: string): string | undefined => {
  for (const statement of file.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue
    const { text } = statement.moduleSpecifier
    const bindings = statement.importClause?.namedBindings
    if (bindings !== undefined && ts.isNamespaceImport(bindings) && text === module) return bindings.name.text
    if (bindings === undefined || !ts.isNamedImports(bindings) || !isBarrel(text)) continue
    for (const { name, propertyName } of bindings.elements) {
      const from = `${text}/${(propertyName ?? name).text}`
      if ((moduleNames.get(from) ?? from) === module && !isRenamed(name.text, from, module)) return name.text
    }
  }
  return undefined
}

const importLines = (
  imports: ReadonlyArray<ts.ImportDeclaration>,
  needs: ReadonlyMap<string, string>,
  used: (name: string) => boolean,
  ofSeam: ReadonlyArray<ts.ImportDeclaration>
): ReadonlyArray<string> => {
  /** By the line's end, to merge what both bodies import. */
  const namespaces = new Map<string, { local: string; isType: boolean }>()
  const lines: Array<{ readonly key: string; readonly text: string }> = []
  const addNamespace = ({ isType, local, module }: Imported) => {
    const known = namespaces.get(`${module} ${local}`)
    namespaces.set(`${module} ${local}`, { local, isType: isType && known?.isType !== false })
  }
  const named = new Map<string, Map<string, boolean>>()
  const addNamed = (module: string, text: string, isType: boolean) => {
    const those = named.get(module) ?? new Map<string, boolean>()
    those.set(text, isType && those.get(text) !== false)
    named.set(module, those)
  }
  for (const one of [...imports, ...ofSeam]) {
    if (!ts.isStringLiteral(one.moduleSpecifier)) continue
    const module = one.moduleSpecifier.text
    const isNew = ofSeam.includes(one)
    const clause = one.importClause
    if (clause === undefined) {
      lines.push({ key: module, text: one.getText() })
      continue
    }
    const isType = clause.phaseModifier === ts.SyntaxKind.TypeKeyword
    const bindings = clause.namedBindings
    if (bindings !== undefined && ts.isNamespaceImport(bindings)) {
      const local = bindings.name.text
      const to = moduleNames.get(module)
      if (isNew || !isOfEffect(module)) addNamespace({ module, local, isType })
      else if (to === undefined) addNamespace({ module, local, isType })
      else addNamespace({ module: to, local: needs.get(to) ?? local, isType })
      continue
    }
    if (bindings !== undefined && ts.isNamedImports(bindings)) {
      for (const element of bindings.elements) {
        const name = (element.propertyName ?? element.name).text
        const elementIsType = isType || element.isTypeOnly
        if (isNew || !isOfEffect(module)) {
          addNamed(module, element.getText().replace(/^type /, ""), elementIsType)
        } else if (isBarrel(module) && /^[a-z]/.test(name)) {
          // a function such as `pipe`, and no module
          addNamed("effect/Function", name, elementIsType)
        } else if (isBarrel(module)) {
          const from = `${module}/${name}`
          const to = moduleNames.get(from) ?? from
          addNamespace({ module: to, local: needs.get(to) ?? element.name.text, isType: elementIsType })
        } else {
          const row = rowOfImport(module, name)
          addNamed(
            row.module,
            row.name === element.name.text ? row.name : `${row.name} as ${element.name.text}`,
            elementIsType
          )
        }
      }
    }
    if (clause.name !== undefined) lines.push({ key: module, text: one.getText() })
  }
  for (const [module, local] of needs) addNamespace({ module, local, isType: false })
  for (const [key, { isType, local }] of namespaces) {
    const module = key.slice(0, key.indexOf(" "))
    if (used(local)) lines.push({ key: module, text: `import ${isType ? "type " : ""}* as ${local} from "${module}"` })
  }
  for (const [module, those] of named) {
    const kept = [...those].filter(([text]) => used(text.slice(text.lastIndexOf(" ") + 1)))
    if (kept.length === 0) continue
    const allTypes = kept.every(([, isType]) => isType)
    const list = kept.map(([text, isType]) => isType && !allTypes ? `type ${text}` : text).sort()
    lines.push({ key: module, text: `import ${allTypes ? "type " : ""}{ ${list.join(", ")} } from "${module}"` })
  }
  const rank = (key: string) => key.startsWith(".") ? `1${key}` : `0${key}`
  return lines.sort((one, other) => rank(one.key) < rank(other.key) ? -1 : 1).map(({ text }) => text)
}

/** A file of a test, and why it is not on this line. */
export interface NotEmitted {
  readonly file: string
  readonly reason: string
}

export interface Emission {
  readonly files: number
  /** What the sources use without a row in the table. */
  readonly unlisted: ReadonlyArray<Unlisted>
  readonly notEmitted: ReadonlyArray<NotEmitted>
}

interface Written {
  readonly text: string
  readonly unlisted: ReadonlyArray<Unlisted>
  readonly imports: ReadonlyArray<string>
}

const written = (root: string, program: ts.Program, seams: string, name: string): Written | undefined => {
  const file = program.getSourceFile(name)
  if (file === undefined) return undefined
  const unlisted: Array<Unlisted> = []
  const text = emitFile(file, program.getTypeChecker(), root, `${seams}/${name.slice(root.length + 1)}`, (one) => {
    unlisted.push(one)
  })
  return { text, unlisted, imports: importsOf(file) }
}

const importsOf = (file: ts.SourceFile): ReadonlyArray<string> =>
  file.statements.flatMap((one) =>
    (ts.isImportDeclaration(one) || ts.isExportDeclaration(one)) && one.moduleSpecifier !== undefined &&
      ts.isStringLiteral(one.moduleSpecifier)
      ? [one.moduleSpecifier.text]
      : []
  )

/** The source that an import of the repository is of. */
const sourceOf = (root: string, from: string, one: string): string | undefined => {
  const [, own, path = "index"] = /^@stevedore\/([^/]+)(?:\/(.+))?$/.exec(one) ?? []
  return own !== undefined
    ? `${root}/packages/${own}/src/${path}.ts`
    : one.startsWith(".")
    ? resolve(dirname(from), one).replace(/\.js$/, ".ts")
    : undefined
}

/** The first import of a source of the repository that is not on this line. */
const foreignIn = (
  root: string,
  from: string,
  imports: ReadonlyArray<string>,
  sources: ReadonlySet<string>
): string | undefined =>
  imports.find((one) => {
    const source = sourceOf(root, from, one)
    return source !== undefined && /^packages\/[^/]+\/src\//.test(source.slice(root.length + 1)) && !sources.has(source)
  })

/** A barrel without the modules that are not on this line. */
const withoutExports = (root: string, name: string, text: string, isHere: (source: string) => boolean): string =>
  text.replace(/^(?:\/\*\*[^/]*\*\/\n)?export \* as \w+ from "([^"]+)"\n+/gm, (one, from: string) => {
    const source = sourceOf(root, name, from)
    return source === undefined || isHere(source) ? one : ""
  })

/** Why a file of a test cannot be on this line, by file. What imports such a file cannot either. */
const reasonsOf = (
  root: string,
  into: string,
  files: ReadonlyMap<string, Written>,
  withheld: Readonly<Record<string, string>>,
  sources: ReadonlySet<string>
): ReadonlyMap<string, string> => {
  const reasons = new Map<string, string>()
  for (const [name, { imports, unlisted }] of files) {
    const path = name.slice(root.length + 1)
    const foreign = foreignIn(root, name, imports, sources)
    const members = [...new Set(unlisted.map(({ member }) => member))]
    const reason = withheld[path] ??
      (foreign !== undefined
        ? `${foreign} is not on this line yet`
        : members.length > 0
        ? `no row in the table for ${members.join(", ")}`
        : undefined)
    if (reason !== undefined) reasons.set(name, reason)
  }
  for (let before = -1; before !== reasons.size;) {
    before = reasons.size
    for (const [name, { imports }] of files) {
      if (reasons.has(name)) continue
      const missing = imports.map((one) => resolve(dirname(name), one).replace(/\.js$/, ".ts"))
        .find((one) => reasons.has(one))
      const outside = imports.find((one) =>
        one.startsWith(".") && !existsSync(resolve(dirname(name), one)) &&
        !files.has(resolve(dirname(name), one).replace(/\.js$/, ".ts")) && !/\/src\//.test(one) &&
        !existsSync(resolve(into + dirname(name).slice(root.length), one).replace(/\.js$/, ".ts"))
      )
      if (missing !== undefined) reasons.set(name, `it imports ${missing.slice(root.length + 1)}`)
      else if (outside !== undefined) reasons.set(name, `it imports ${outside}`)
    }
  }
  return reasons
}

/** A program over files on disk, and over the examples in them. */
const programOf = (
  options: ts.CompilerOptions,
  names: ReadonlyArray<string>,
  examples: ReadonlyArray<Example>
): ts.Program => {
  const texts = new Map(examples.map(({ path, text }) => [path, text]))
  const host = ts.createCompilerHost(options, true)
  return ts.createProgram([...names, ...texts.keys()], options, {
    ...host,
    fileExists: (path) => texts.has(path) || host.fileExists(path),
    readFile: (path) => texts.get(path) ?? host.readFile(path),
    getSourceFile: (path, version, ...others) => {
      const text = texts.get(path)
      return text === undefined
        ? host.getSourceFile(path, version, ...others)
        : ts.createSourceFile(path, text, version, true)
    }
  })
}

/**
 * Writes folders of the repository for Effect 4. A source that uses what the table has no row for fails the whole; a test
 * that does is left out, with the reason.
 */
export const emit = (
  root: string,
  into: string,
  seams: string,
  { packages, withheld }: {
    readonly packages: ReadonlyArray<string>
    /** Files that are not written, and why. */
    readonly withheld: Readonly<Record<string, string>>
  }
): Emission => {
  const config = ts.readConfigFile(`${root}/tsconfig.json`, (path) => readFileSync(path, "utf8"))
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root)
  const namesIn = (folders: ReadonlyArray<string>) =>
    folders.flatMap((folder) => ts.sys.readDirectory(`${root}/${folder}`, [".ts"]))
  const sources = packages.map((name) => `packages/${name}/src`)
  const tests = packages.map((name) => `packages/${name}/test`)
  const folders = packages.map((name) => `${root}/packages/${name}`)
  const folderOf = (file: string) => folders.find((one) => file.startsWith(`${one}/`)) ?? dirname(file)
  const isHere = (file: string) => !Object.hasOwn(withheld, file.slice(root.length + 1))
  const pages = folders.map((folder) => `${folder}/README.md`).filter(isHere)
  const names = namesIn(sources).filter(isHere)
  const onLine = new Set(names)
  const examples = new Map([...names, ...pages].map((name) => [name, examplesOf(name, readFileSync(name, "utf8"))]))
  const program = programOf(options, [...names, ...namesIn(tests)], [...examples.values()].flat())
  for (const folder of [...sources, ...tests, ...packages.map((name) => `packages/${name}/examples`)]) {
    rmSync(`${into}/${folder}`, { recursive: true, force: true })
  }
  const put = (name: string, text: string): void => {
    const path = `${into}/${name.slice(root.length + 1)}`
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const write = (name: string, { text }: Written): void => put(name, formatted(name, text))
  const unlisted: Array<Unlisted> = []
  const notEmitted: Array<NotEmitted> = []
  /** The text of a file with its examples for Effect 4; those that this line can compile are written as files too. */
  const documented = (name: string, text: string): string => {
    const forms = new Map<string, (lineWidth: number) => string>()
    for (const example of examples.get(name) ?? []) {
      const one = written(root, program, seams, example.path)
      if (one === undefined) continue
      for (const { member, place } of one.unlisted) unlisted.push({ member, place: placeInFile(place) })
      const foreign = foreignIn(root, example.path, one.imports, onLine)
      const path = `${folderOf(name)}/examples/${basename(example.path)}`
      if (foreign === undefined) put(path, shown(example, one.text, 120) + "\n")
      else notEmitted.push({ file: path.slice(root.length + 1), reason: `${foreign} is not on this line yet` })
      forms.set(example.code, (lineWidth) => shown(example, one.text, lineWidth))
    }
    return withExamples(name, text, (code, lineWidth) => forms.get(code)?.(lineWidth))
  }
  for (const name of names) {
    const one = written(root, program, seams, name)
    if (one === undefined) continue
    for (const each of one.unlisted) unlisted.push(each)
    put(
      name,
      documented(name, formatted(name, withoutExports(root, name, one.text, isHere))).replace(
        /(?<=@since )0\.\d+\.\d+/g,
        versionOn4
      )
    )
  }
  for (const page of pages) put(page, documented(page, readFileSync(page, "utf8")))
  const files = new Map<string, Written>()
  for (const name of namesIn(tests)) {
    const one = written(root, program, seams, name)
    if (one !== undefined) files.set(name, one)
  }
  // what tests read
  for (const name of tests.flatMap((folder) => ts.sys.readDirectory(`${root}/${folder}`, [".json"]))) {
    const path = `${into}/${name.slice(root.length + 1)}`
    mkdirSync(dirname(path), { recursive: true })
    copyFileSync(name, path)
  }
  const reasons = reasonsOf(root, into, files, withheld, onLine)
  for (const [name, one] of files) if (!reasons.has(name)) write(name, one)
  return {
    files: names.length + files.size - reasons.size,
    unlisted,
    notEmitted: [
      ...notEmitted,
      ...Array.from(reasons, ([name, reason]) => ({ file: name.slice(root.length + 1), reason }))
    ]
  }
}
