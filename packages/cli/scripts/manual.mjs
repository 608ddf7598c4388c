// Writes the manual page, which `npm install --global` puts where `man stevedore` finds it.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url))
// built a moment ago: nothing to resolve in a fresh clone
const { commands } = await import(path("../dist/line/commands.js"))
const { render } = await import(path("../dist/line/manualPage.js"))
const { version } = JSON.parse(readFileSync(path("../package.json"), "utf8"))

mkdirSync(path("../dist/man"), { recursive: true })
writeFileSync(path("../dist/man/stevedore.1"), render(commands, version))
