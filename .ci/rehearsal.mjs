// What a rehearsal expects of the lines and the programs that pages have.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { root } from "./packages.mjs"

/**
 * @typedef {object} Outcome
 * @property {number} [status] its exit code; without one it has to say that it listens, and is ended then
 * @property {RegExp} says
 * @property {string} [more] words that let two of it run at once
 */

export const sandboxed = { says: /^\{.*"api"/m, more: "--port 0 --storage-port 0 --projects 3 --json" }
/** Of a line by npx, the first that fits. @type {ReadonlyArray<readonly [line: RegExp, outcome: Outcome]>} */
export const outcomes = [
  [/cli sandbox$/, sandboxed],
  [/cli serve$/, { says: /^\{.*"listening"/m, more: "--port 0 --json" }],
  // what only the reader has: a bucket, a database and their secrets
  [/cli serve --host/, { status: 2, says: /cannot read the file \/run\/secrets\/database/ }],
  [/cli bucket setup/, { status: 2, says: /STEVEDORE_SERVE_S3_ACCESS_KEY_ID/ }],
  [/cli bulk .*--database-env/, { status: 1, says: /db\.internal/ }],
  [/cli bulk start/, { status: 0, says: /archive-2026/ }],
  [/cli token list/, { status: 0, says: /acme/ }],
  [/cli token revoke/, { status: 2, says: /1kf00nQk9yfWKfsTDni8aO/ }],
  [/cli (?:upload|doctor|token create)/, { status: 0, says: /\S/ }],
  [/^npx tsx main\.ts$/, { says: /Listening/ }],
  [/^npx vite page$/, { says: /http:\/\/localhost:/ }],
  [/^npx vitest run$/, { status: 0, says: /passed/ }]
]

/**
 * @typedef {object} Program
 * @property {string} [after] what runs what it defines; without it the program runs by itself
 * @property {string} [file] its name, where a command asks for one
 * @property {RegExp} [says] what it prints, if not that it has ended
 */

const modules = `const { Effect: E, Stream: S } = await import("effect")
const { NodeStevedore: N } = await import("@stevedore/node")
`

const run = (/** @type {string} */ effect) =>
  `${modules}await E.runPromise(${effect}.pipe(E.provide(N.layerConfig())))\nconsole.log("ended")\n`
// asks as a page does for what this service has never seen, and is told so
const asked = (/** @type {string} */ response) =>
  `const answer = ${response}\nif (answer.status !== 404) throw answer.status\nconsole.log("ended")\nprocess.exit()\n`

const handled = (/** @type {string} */ path) => asked(`await handler(new Request("http://localhost${path}"))`)

const uploads = { file: "upload.mjs", says: /interview\.mp4 is \w{22}/ }
const tests = { file: "notes.test.mjs", says: /1 passed/ }

/** The programs of a page, in its order. @type {Readonly<Record<string, ReadonlyArray<Program>>>} */
export const programs = {
  "README.md": [
    uploads,
    { after: run("folder"), says: /one\.wav is \w{22}/ },
    { after: run("E.zipRight(saved, S.runDrain(titles))") },
    tests,
    {
      after: `${modules}const { HttpApp } = await import("@effect/platform")
        const { handler } = HttpApp.toWebHandlerLayer(app, N.layerConfig())\n${handled("/nothing")}`
    }
  ],
  "packages/docs/getting-started.md": [
    uploads,
    { after: run("E.all([saved, S.runDrain(firstKilobyte), processed, S.runDrain(titles)])") },
    {
      // a server that listens may not have its routes yet, and then never answers
      after: `const tried = (left) => fetch("http://127.0.0.1:8080/api/nothing", { signal: AbortSignal.timeout(500) })
          .catch((error) => left === 0 ? Promise.reject(error) : tried(left - 1))
        ${asked("await new Promise((resolve) => setTimeout(resolve, 500)).then(() => tried(20))")}`
    },
    {
      after: `const { createServer } = await import("node:http")
        const server = createServer(handler).listen(0, "127.0.0.1")
        await new Promise((resolve) => server.once("listening", resolve))
        ${asked("await fetch(`http://127.0.0.1:${server.address().port}/nothing`)")}`
    },
    { after: handled("/api/nothing") },
    // a page's: that it loads is all that Node can say of it
    { after: "console.log(typeof upload)\n", says: /function/ },
    tests,
    {
      after: `${modules}const archived = E.flatMap(Minutes, (minutes) => minutes.archive("notes.txt", "hello"))
        console.log(await E.runPromise(E.provide(archived, Live)))`,
      says: /^\w{22}/m
    }
  ],
  "packages/docs/guide/effect-versions.md": [{ says: /\S/ }, { says: /\S/ }, { says: /\S/ }]
}

/** What the lines and programs of a page upload. @param {string} place */
export const writeFiles = (place) => {
  mkdirSync(`${place}/interviews`, { recursive: true })
  writeFileSync(`${place}/interview.mp4`, new Uint8Array(12_000_000).map((_, index) => (index * 7) % 251))
  for (const name of ["one", "two"]) writeFileSync(`${place}/interviews/${name}.wav`, name)
}

/**
 * The code of a page's programs, whether it stands there or is included from a file.
 *
 * @param {string} page
 * @returns {ReadonlyArray<string>}
 */
export const programsOf = (page) =>
  [...readFileSync(`${root}/${page}`, "utf8").matchAll(/^```ts\n([^]*?)^```$|^<<< (\S+\.ts)$/gm)].map(
    ([, code, file = ""]) => code ?? readFileSync(resolve(`${root}/${dirname(page)}`, file), "utf8")
  )
