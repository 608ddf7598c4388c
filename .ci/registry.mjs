// A registry of npm's on the loopback, for as long as a rehearsal lasts. What it does not have comes from the registry that npm is
// configured with, and stays for the next time; what is published to it, nobody else sees.
import { spawn, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { freePort } from "./free-port.mjs"
import { root } from "./packages.mjs"

const cache = `${root}/.cache/rehearsal`

/** Directory of the programs that a rehearsal needs, in which they are installed on the first time. */
export const tools = `${cache}/tools`

const wanted = JSON.stringify({
  private: true,
  dependencies: { pnpm: "10", verdaccio: "6.7.4" },
  // the one that verdaccio names is a tag, which some mirrors lack
  overrides: { "node-fetch": "^2.7.0" }
})

/** @param {string} cwd @param {ReadonlyArray<string>} words @param {NodeJS.ProcessEnv} [env] */
const npm = (cwd, words, env = process.env) => {
  const { status, stderr, stdout } = spawnSync("npm", words, { cwd, encoding: "utf8", env })
  if (status !== 0) throw new Error(`npm ${words.join(" ")}: exit ${status}\n${stdout}${stderr}`)
  return stdout.trim()
}

const installTools = () => {
  if (
    existsSync(`${tools}/node_modules/.package-lock.json`) && readFileSync(`${tools}/package.json`, "utf8") === wanted
  ) {
    return
  }
  mkdirSync(tools, { recursive: true })
  writeFileSync(`${tools}/package.json`, wanted)
  npm(tools, ["install", "--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"])
}

/** A later version of Effect 4, of which nobody knows yet what it changes: that of now, under another number. */
const later = {
  from: "4.1.0",
  version: "4.2.0",
  names: ["effect", "@effect/platform-node-shared", "@effect/platform-node"]
}

/**
 * Starts a registry.
 *
 * @param {string} folder for what npm keeps of this rehearsal only
 */
export const start = async (folder) => {
  installTools()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/`
  const storage = `${cache}/storage`
  for (const name of ["@stevedore", ...later.names]) rmSync(`${storage}/${name}`, { recursive: true, force: true })
  const everybody = { access: "$all", publish: "$all", unpublish: "$all" }
  const configuration = {
    storage,
    // those that npm asks, at the time of the rehearsal
    uplinks: { npm: { url: npm(folder, ["config", "get", "registry"]), maxage: "60m", timeout: "60s" } },
    packages: { "@stevedore/*": everybody, "**": { ...everybody, proxy: "npm" } },
    log: { type: "stdout", format: "json", level: "error" },
    max_body_size: "100mb"
  }
  // JSON is YAML
  writeFileSync(`${folder}/registry.yaml`, JSON.stringify(configuration))
  writeFileSync(
    `${folder}/npmrc`,
    [
      `registry=${url}`,
      `//127.0.0.1:${port}/:_authToken=rehearsal`,
      `cache=${folder}/cache`,
      `prefix=${folder}/global`,
      "ignore-scripts=true",
      "yes=true",
      "audit=false",
      "fund=false",
      "update-notifier=false"
    ].join("\n")
  )
  const certificates = npm(folder, ["config", "get", "cafile"])
  const server = spawn(
    process.execPath,
    [
      `${tools}/node_modules/verdaccio/bin/verdaccio`,
      "--config",
      `${folder}/registry.yaml`,
      "--listen",
      `127.0.0.1:${port}`
    ],
    {
      stdio: ["ignore", "ignore", "inherit"],
      env: {
        ...process.env,
        NODE_NO_WARNINGS: "1",
        ...(existsSync(certificates) ? { NODE_EXTRA_CA_CERTS: certificates } : {})
      }
    }
  )
  const closed = new Promise((resolve) => server.once("close", resolve))
  for (let tried = 0;; tried += 1) {
    if (await fetch(`${url}-/ping`).then(({ ok }) => ok, () => false)) break
    if (server.exitCode !== null || tried === 300) throw new Error("The registry does not answer")
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  mkdirSync(`${folder}/home`)
  // neither what npm tells its own scripts, nor what whoever runs this has set
  const environment = {
    ...Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(?:npm_|STEVEDORE_|NODE_OPTIONS$|CI$)/i.test(name))
    ),
    HOME: `${folder}/home`,
    XDG_STATE_HOME: `${folder}/state`,
    XDG_CACHE_HOME: `${folder}/cache`,
    XDG_DATA_HOME: `${folder}/data`,
    NO_COLOR: "1",
    npm_config_userconfig: `${folder}/npmrc`,
    PATH: `${folder}/global/bin:${tools}/node_modules/.bin:${process.env.PATH}`
  }
  return {
    environment,
    /** Publishes every package, as a release does. */
    publish: () => {
      const { status, stderr, stdout } = spawnSync(process.execPath, [`${root}/.ci/publish.mjs`, "--silent"], {
        cwd: root,
        encoding: "utf8",
        env: environment
      })
      if (status !== 0) throw new Error(`The packages are not published\n${stdout}${stderr}`)
    },
    /** Publishes a later version of Effect 4. */
    publishLater: () => {
      for (const name of later.names) {
        const place = `${folder}/later/${name}`
        mkdirSync(place, { recursive: true })
        const file = npm(place, ["pack", "--silent", `${name}@${later.from}`], environment)
        if (spawnSync("tar", ["-xzf", file], { cwd: place }).status !== 0) throw new Error(`${file} cannot be unpacked`)
        const manifest = JSON.parse(readFileSync(`${place}/package/package.json`, "utf8"))
        for (const ranges of [manifest.dependencies, manifest.peerDependencies]) {
          for (const sibling of later.names) if (ranges?.[sibling] !== undefined) ranges[sibling] = `^${later.version}`
        }
        const { publishConfig: _, ...others } = manifest
        writeFileSync(`${place}/package/package.json`, JSON.stringify({ ...others, version: later.version }))
        npm(place, ["publish", `${place}/package`, "--silent", "--tag", "latest"], environment)
      }
      // npm has read what there was before
      Object.assign(environment, { npm_config_prefer_online: "true" })
    },
    end: async () => {
      server.kill("SIGKILL")
      await closed
    }
  }
}
