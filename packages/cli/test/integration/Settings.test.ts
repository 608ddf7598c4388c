import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { type Environment, invoke, jsonLines, Sandbox, sandbox } from "./invoke.js"

/** A home directory with this configuration file, and a file to upload. */
const home = (settings: unknown) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const path = `${folder}/stevedore.json`
    yield* fs.writeFileString(path, typeof settings === "string" ? settings : JSON.stringify(settings))
    yield* fs.writeFileString(`${folder}/a.wav`, "a")
    yield* fs.writeFileString(`${folder}/a.txt`, "b")
    const { env: client } = yield* Sandbox
    const env: Environment = { ...client, XDG_CONFIG_HOME: folder, APPDATA: folder }
    return { folder, fs, path, env }
  })

const settingsIn = (stdout: string) =>
  new Map(
    jsonLines(stdout).map((line) => {
      const { from, name, value } = Object(line)
      return [name, [value, from]]
    })
  )

layer(Layer.merge(sandbox(), NodeContext.layer), { excludeTestServices: true })("the configuration file", (it) => {
  it.scoped("is found by itself, and gives a default to every option, for one command or for all", () =>
    Effect.gen(function*() {
      const { env, folder } = yield* home({ json: true, upload: { include: ["*.wav"], files: 2 }, list: { limit: 3 } })
      const { code, stdout } = yield* invoke(["upload", folder, "--dry-run"], env)
      assert.strictEqual(code, 0)
      const planned = jsonLines(stdout).filter((line) => Object(line).type === "planned")
      assert.deepStrictEqual(planned.map((line) => Object(line).path), [`${folder}/a.wav`])
    }))

  it.scoped("an option overrides its default, a flag as --json=false", () =>
    Effect.gen(function*() {
      const { env, folder } = yield* home({ json: true, upload: { include: "*.wav" } })
      const { stdout } = yield* invoke(["upload", folder, "--dry-run", "--include", "*.txt", "--json=false"], env)
      assert.include(stdout, "a.txt")
      assert.notInclude(stdout, "a.wav")
      assert.notInclude(stdout, "{")
    }))

  it.scoped("a variable overrides it, and --config replaces it", () =>
    Effect.gen(function*() {
      const { env, folder, fs, path } = yield* home({ baseUrl: "https://file.example", profile: "dovetail" })
      const found = settingsIn((yield* invoke(["config", "--json"], env)).stdout)
      assert.deepStrictEqual(found.get("baseUrl"), [env.STEVEDORE_BASE_URL, "STEVEDORE_BASE_URL"])
      assert.deepStrictEqual(found.get("profile"), ["dovetail", path])
      const other = `${folder}/other.json`
      yield* fs.writeFileString(other, JSON.stringify({ maxErrors: 3 }))
      const named = settingsIn((yield* invoke(["config", "--json", "--config", other], env)).stdout)
      assert.deepStrictEqual(named.get("profile"), ["standard", "default"])
      assert.deepStrictEqual(named.get("maxErrors"), ["3", other])
    }))

  it.scoped("config shows what is in force and from where, and never the token", () =>
    Effect.gen(function*() {
      const { env, folder, path } = yield* home({
        tokenFile: "secrets/token",
        upload: { exclude: ["a", "b"], check: true }
      })
      const { STEVEDORE_TOKEN: token, ...rest } = env
      const { stderr, stdout } = yield* invoke(["config", "--base-url", "https://option.example"], rest)
      assert.include(stdout, "baseUrl\thttps://option.example\t--base-url\n")
      assert.include(stdout, `token\t${folder}/secrets/token\t${path}\n`)
      assert.include(stdout, `upload.exclude\ta, b\t${path}\n`)
      assert.include(stdout, `upload.check\ttrue\t${path}\n`)
      assert.strictEqual(stderr, `Configuration file: ${path}\n`)
      const shown = yield* invoke(["config"], env)
      assert.include(shown.stdout, "token\t(set, not shown)\tSTEVEDORE_TOKEN\n")
      assert.notInclude(shown.stdout + shown.stderr, token ?? "none")
    }))

  it.scoped("config says so if there is no file", () =>
    Effect.gen(function*() {
      const { env, folder, fs, path } = yield* home({})
      yield* fs.remove(path)
      const { code, stderr } = yield* invoke(["config"], env)
      assert.deepStrictEqual([code, stderr], [0, `There is no configuration file at ${folder}/stevedore.json\n`])
    }))

  it.scoped.each<readonly [unknown, RegExp]>([
    [{ filez: 3 }, /stevedore\.json: filez: unknown field: did you mean files\?\n$/],
    [{ baseURL: "https://a" }, /baseURL: unknown field: did you mean baseUrl\?\n$/],
    [{ upload: { incldue: "a" } }, /upload\.incldue: unknown field: did you mean include\?\n$/],
    [{ download: { include: "a" } }, /download\.include: unknown field/],
    [{ files: true }, /files: expected a text or a number\n$/],
    [{ check: "yes" }, /check: expected true or false\n$/],
    [{ include: [{}] }, /include: expected a text or a list of texts\n$/],
    [{ token: "api.secret" }, /token: not here\. Write it to a file of its own/],
    ["api.secret", /not a JSON object\n$/],
    [{ files: 0 }, /--files: expected a whole number.*\nThe configuration file adds --files=0: see stevedore config/s]
  ])("%j is refused, without showing a secret", ([settings, message]) =>
    Effect.gen(function*() {
      const { env, folder } = yield* home(settings)
      const { code, stderr, stdout } = yield* invoke(["upload", folder], env)
      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.match(stderr, message)
      assert.notInclude(stderr, "secret")
    }))
})
