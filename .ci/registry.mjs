// A registry of npm's on the loopback, for as long as a rehearsal lasts. What it does not have comes from the registry that npm is
// configured with, and stays for the next time; what is published to it, nobody else sees.
import { spawn, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { freePort } from "./free-port.mjs"
import { root } from "./packages.mjs"

const tools = {
  private: true,
  dependencies: { pnpm: "10", verdaccio: "6.7.4" },
  // the one that verdaccio names is a tag, which some mirrors lack
  overrides: { "node-fetch": "^2.7.0" }
}

/** A later version of Effect 4, of which nobody knows yet what it changes: that of now, under another number. */
const later = { from: "4.1.0", to: "4.2.0", names: ["effect", "@effect/platform-node-shared", "@effect/platform-node"] }

/** Where a release says that it is of. */
export const repository = {
  GITHUB_REPOSITORY: "owner/stevedore",
  GITHUB_SERVER_URL: "https://code.example",
  GITHUB_REF_NAME: "v0.1.0"
}

/** @param {string} cwd @param {string} command @param {ReadonlyArray<string>} words @param {NodeJS.ProcessEnv} [env] */
const run = (cwd, command, words, env = process.env) => {
  const { status, stderr, stdout } = spawnSync(command, words, { cwd, encoding: "utf8", env })
  if (status !== 0) throw new Error(`${command} ${words.join(" ")}: exit ${status}\n${stdout}${stderr}`)
  return stdout.trim()
}

/** Starts a registry; `folder` is for what is kept of this rehearsal only. @param {string} folder */
export const start = async (folder) => {
  for (const name of ["tools", "home"]) mkdirSync(`${folder}/${name}`)
  // in a folder of its own, not in the checkout
  writeFileSync(`${folder}/tools/package.json`, JSON.stringify(tools))
  const quietly = ["--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
  run(`${folder}/tools`, "npm", ["install", ...quietly])
  const host = `127.0.0.1:${await freePort()}`
  const storage = `${root}/.cache/rehearsal`
  for (const name of ["@stevedore", ...later.names]) rmSync(`${storage}/${name}`, { recursive: true, force: true })
  const everybody = { access: "$all", publish: "$all" }
  const configuration = {
    storage,
    // the one that npm asks, at the time of the rehearsal
    uplinks: { npm: { url: run(folder, "npm", ["config", "get", "registry"]), maxage: "60m", timeout: "60s" } },
    packages: { "@stevedore/*": everybody, "**": { ...everybody, proxy: "npm" } },
    log: { type: "stdout", format: "json", level: "error" },
    max_body_size: "100mb"
  }
  // JSON is YAML
  writeFileSync(`${folder}/registry.yaml`, JSON.stringify(configuration))
  // nothing needs an install script
  const settings = "ignore-scripts=true\nyes=true\naudit=false\nfund=false\nupdate-notifier=false"
  const places = `registry=http://${host}/\ncache=${folder}/cache\nprefix=${folder}/global`
  writeFileSync(`${folder}/npmrc`, `${places}\n${settings}\n`)
  const certificates = run(folder, "npm", ["config", "get", "cafile"])
  const verdaccio = `${folder}/tools/node_modules/verdaccio/bin/verdaccio`
  const server = spawn(process.execPath, [verdaccio, "--config", `${folder}/registry.yaml`, "--listen", host], {
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      NODE_NO_WARNINGS: "1",
      ...(existsSync(certificates) ? { NODE_EXTRA_CA_CERTS: certificates } : {})
    }
  })
  const closed = new Promise((resolve) => server.once("close", resolve))
  for (let tried = 0;; tried += 1) {
    if (await fetch(`http://${host}/-/ping`).then(({ ok }) => ok, () => false)) break
    if (server.exitCode !== null || tried === 300) throw new Error("The registry does not answer")
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  // neither what npm tells its own scripts, nor what whoever runs this has set
  const environment = {
    ...Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(?:npm_|STEVEDORE_|GITHUB_|NODE_OPTIONS$|CI$)/i.test(name))
    ),
    HOME: `${folder}/home`,
    XDG_STATE_HOME: `${folder}/state`,
    XDG_CACHE_HOME: `${folder}/cache`,
    XDG_DATA_HOME: `${folder}/data`,
    NO_COLOR: "1",
    npm_config_userconfig: `${folder}/npmrc`,
    PATH: `${folder}/global/bin:${folder}/tools/node_modules/.bin:${process.env.PATH}`
  }
  const publisher = { ...environment, ...repository, NODE_AUTH_TOKEN: "rehearsal" }
  return {
    environment,
    /** Publishes every package, as a release does. */
    publish: () => run(root, process.execPath, [`${root}/.ci/publish.mjs`, "--silent"], publisher),
    /** Publishes a later version of Effect 4. */
    publishLater: () => {
      for (const name of later.names) {
        const place = `${folder}/later/${name}`
        mkdirSync(place, { recursive: true })
        const file = run(place, "npm", ["pack", "--silent", `${name}@${later.from}`], environment)
        run(place, "tar", ["-xzf", file])
        const { publishConfig: _, ...manifest } = JSON.parse(readFileSync(`${place}/package/package.json`, "utf8"))
        for (const ranges of [manifest.dependencies, manifest.peerDependencies]) {
          for (const sibling of later.names) if (ranges?.[sibling] !== undefined) ranges[sibling] = `^${later.to}`
        }
        writeFileSync(`${place}/package/package.json`, JSON.stringify({ ...manifest, version: later.to }))
        const token = { [`npm_config_//${host}/:_authToken`]: "rehearsal" }
        run(place, "npm", ["publish", `${place}/package`, "--silent", "--tag", "latest"], { ...environment, ...token })
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
