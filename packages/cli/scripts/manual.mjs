// Writes the manual page, which `npm install --global` puts where `man stevedore` finds it.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { pages } from "../dist/CommandLine.js"
import { render } from "../dist/ManualPage.js"

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url))
const { version } = JSON.parse(readFileSync(path("../package.json"), "utf8"))

mkdirSync(path("../dist/man"), { recursive: true })
writeFileSync(path("../dist/man/stevedore.1"), render(pages(), version))
