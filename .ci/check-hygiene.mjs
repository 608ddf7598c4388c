// Looks through every tracked file for what must not be published: a registry's host in the lockfile, a path of someone's
// machine, a secret, a conflict marker, the identifier of a class that another package could have; and for unit tests that do not
// stand where their source stands, under its name.
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync, statSync } from "node:fs"
import { root } from "./packages.mjs"

/** @type {ReadonlyArray<{ what: string, files: RegExp, pattern: RegExp }>} */
const rules = [
  { what: "a registry's host", files: /(?:^|\/)package-lock\.json$/, pattern: /"resolved": "https?:/ },
  { what: "a registry's host", files: /./, pattern: /\bregistry\.[a-z0-9-]+\.(?:org|com|net|dev)\b/ },
  { what: "a path of one machine", files: /./, pattern: /(?:^|[\s"'`(=])\/(?:home|Users|root|work)\/[A-Za-z0-9._-]+/ },
  // the one of a test's server on the loopback is worth nothing anywhere
  {
    what: "a private key",
    files: /^(?!packages\/node\/test\/support\/certificate[.]ts$)/,
    pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----/
  },
  // AWS's own documented example keys end in EXAMPLE
  { what: "an AWS access key", files: /./, pattern: /\b(?:AKIA|ASIA)(?![A-Z0-9]{9}EXAMPLE)[A-Z0-9]{16}\b/ },
  { what: "a token", files: /./, pattern: /\b(?:ghp|gho|ghs|npm|glpat|xox[abp])[_-][A-Za-z0-9]{20,}/ },
  {
    what: "an identifier that does not name its package",
    files: /^packages\/[^/]+\/src\//,
    pattern: /(?:Context\.(?:Tag|GenericTag)\(|TaggedError<\w+>\(|Context\.Reference<\w+>\(\)<)\s*"(?!@stevedore\/)/
  },
  { what: "a conflict marker", files: /./, pattern: /^(?:<{7}|>{7}) /m }
]

const files = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0")
  .filter((file) => file !== "" && (statSync(`${root}/${file}`, { throwIfNoEntry: false })?.size ?? 0) > 0)

let findings = 0
for (const file of files) {
  // this file holds the patterns themselves
  if (file === ".ci/check-hygiene.mjs") continue
  const text = readFileSync(`${root}/${file}`, "utf8")
  for (const rule of rules) {
    const found = rule.files.test(file) ? rule.pattern.exec(text) : null
    if (found !== null) {
      findings++
      console.log(`${file}:${text.slice(0, found.index).split("\n").length} holds ${rule.what}`)
    }
  }
}
const unit =
  /^packages\/(core|node|browser|server|testing|bulk|cli)\/test\/(?:slow\/)?(?!slow\/|integration|laws|simulation)(.+)\.test(\.tsx?)$/
for (const file of files) {
  const [, name, module, ending] = unit.exec(file) ?? []
  if (module !== undefined && !existsSync(`${root}/packages/${name}/src/${module}${ending}`)) {
    findings++
    console.log(`${file} tests no module of that place and name: what judges several stands in test/laws`)
  }
}
console.log(`${files.length} tracked files read`)
process.exitCode = findings === 0 ? 0 : 1
