// Suites that need what a machine may not have, and probe for it. What is not found, .ci/test.mjs says, and .ci/run refuses.
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { root } from "./packages.mjs"

/**
 * @typedef {object} OptionalSuite
 * @property {string} files glob of the test files, from the repository's root
 * @property {string} needs what must be there, in words
 * @property {string} install how a user gets it
 * @property {() => boolean} probe whether it is there; quick, without side effects
 * @property {boolean} [nightly] whether it is left to `npm run nightly`
 */

const isNight = process.env.STEVEDORE_NIGHTLY === "1"

const objectStore = "packages/testing/real-storage/object-store"

const storeRuns = spawnSync(`${root}/${objectStore}`, ["settings"]).status === 0

const store = {
  needs: "a running object store",
  install: `On Debian: ${objectStore} run npm run test:all (installs nothing on the system).`,
  probe: () => storeRuns
}

/** Where a machine has a Chromium, if it has one. @type {string | undefined} */
export const chromiumPath = [
  process.env.CHROMIUM_PATH ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
].find((path) => path !== "" && existsSync(path))

const chromium = {
  needs: "a Chromium",
  install: "On Debian: apt-get install chromium. CHROMIUM_PATH names one that is elsewhere.",
  probe: () => chromiumPath !== undefined
}

/** Where a machine has a Firefox, if it has one. @type {string | undefined} */
export const firefoxPath = [
  process.env.FIREFOX_PATH ?? "",
  "/usr/bin/firefox-esr",
  "/usr/bin/firefox",
  "/Applications/Firefox.app/Contents/MacOS/firefox"
].find((path) => path !== "" && existsSync(path))

const libraries = "/usr/lib"

const webkit = {
  // each architecture has a directory of its own
  browser: (existsSync(libraries) ? readdirSync(libraries) : [])
    .map((architecture) => `${libraries}/${architecture}/webkit2gtk-4.1/MiniBrowser`)
    .find((path) => existsSync(path)),
  driver: "/usr/bin/WebKitWebDriver",
  display: "/usr/bin/Xvfb"
}

/** WebKit's browser, its driver, and a display for them, if a machine has all of them. */
export const webkitPaths = webkit.browser !== undefined && existsSync(webkit.driver) && existsSync(webkit.display)
  ? { ...webkit, browser: webkit.browser }
  : undefined

const clusters = "/usr/lib/postgresql"

/** Where a machine has the programs of PostgreSQL 15 or later, if it has them. @type {string | undefined} */
export const postgresPath = [
  process.env.POSTGRES_PATH ?? "",
  // each version has a directory of its own
  ...(existsSync(clusters) ? readdirSync(clusters) : []).map((version) => `${clusters}/${version}/bin`)
].find((path) => path !== "" && existsSync(`${path}/initdb`))

/** Where Debian has PgBouncer. */
export const pgBouncerPath = "/usr/sbin/pgbouncer"

// within a namespace of its own, which ends with it
const hasNamespaces = process.getuid?.() === 0 &&
  spawnSync("unshare", ["--net", "ip", "link", "add", "name", "one", "type", "veth", "peer", "name", "two"]).status ===
    0

/** @type {ReadonlyArray<OptionalSuite>} */
export const optionalSuites = [
  ...["bulk", "cli", "examples", "server"].map((name) => ({
    files: `packages/${name}/test/integration/Postgres*.test.ts`,
    needs: "PostgreSQL",
    install: "On Debian: apt-get install postgresql. POSTGRES_PATH names the directory of its programs elsewhere.",
    probe: () => postgresPath !== undefined
  })),
  ...["cli", "server"].map((name) => ({
    files: `packages/${name}/test/integration/PostgresStorage*.test.ts`,
    needs: "PostgreSQL and a running object store",
    install: `On Debian: apt-get install postgresql, and ${objectStore} run npm run test:all.`,
    probe: () => postgresPath !== undefined && storeRuns
  })),
  {
    files: "packages/server/test/integration/PostgresStoragePartition.test.ts",
    needs: "network namespaces",
    install: "On Debian: apt-get install iproute2, and run as root where namespaces are allowed.",
    probe: () => hasNamespaces
  },
  {
    files: "packages/server/test/integration/PostgresStorageDeploys.test.ts",
    needs: "nginx and PgBouncer",
    install: "On Debian: apt-get install nginx-light pgbouncer.",
    probe: () => ["/usr/sbin/nginx", pgBouncerPath].every((path) => existsSync(path))
  },
  {
    files: "packages/bulk/test/integration/PostgresProcesses.test.ts",
    needs: "PgBouncer",
    install: "On Debian: apt-get install pgbouncer.",
    probe: () => existsSync(pgBouncerPath)
  },
  {
    files: "packages/server/test/integration/Proxies.test.ts",
    needs: "nginx, Caddy and HAProxy",
    install: "On Debian: apt-get install nginx-light caddy haproxy.",
    probe: () => ["/usr/sbin/nginx", "/usr/bin/caddy", "/usr/sbin/haproxy"].every((path) => existsSync(path))
  },
  {
    files: "packages/browser/test/integration/chromium/**",
    ...chromium
  },
  ...["test/integration/Chromium*", "packed/Frameworks"].map((name) => ({
    files: `packages/examples/${name}.test.ts`,
    ...chromium
  })),
  {
    files: "packages/browser/test/integration/firefox/**",
    needs: "a Firefox",
    install: "On Debian: apt-get install firefox-esr. FIREFOX_PATH names one that is elsewhere.",
    probe: () => firefoxPath !== undefined
  },
  {
    files: "packages/browser/test/integration/webkit/**",
    needs: "WebKit and a virtual display",
    install: "On Debian: apt-get install webkit2gtk-driver xvfb.",
    probe: () => webkitPaths !== undefined
  },
  ...["testing", "server"].map((name) => ({
    files: `packages/${name}/test/integration/RealStorage*.test.ts`,
    ...store
  })),
  {
    ...store,
    files: "packages/browser/test/integration/*/RealStorage.test.ts",
    needs: "a browser and a running object store"
  },
  {
    files: "packages/testing/test/integration/LargeFile.test.ts",
    needs: "a running object store and minutes for 6 GB",
    install: `On Debian: STEVEDORE_NIGHTLY=1 ${objectStore} run npm run test:all (7 GB of disk while it runs).`,
    probe: () => storeRuns && isNight,
    nightly: true
  },
  {
    files: "packages/examples/packed/Next.test.ts",
    needs: "a night, for 460 MB of packages",
    install: "STEVEDORE_NIGHTLY=1 npm run try-packages.",
    probe: () => isNight,
    nightly: true
  },
  // engines differ in network and storage, which the laws of uploads, of the queue and of its life meet
  ...["firefox", "webkit"].map((engine) => ({
    files: `packages/browser/test/integration/${engine}/{Element,Faults,Leave,Memory,Offline,RealStorage}.test.ts`,
    needs: "a night",
    install: "STEVEDORE_NIGHTLY=1 npm run test:all.",
    probe: () => isNight,
    nightly: true
  }))
]

/** @type {ReadonlyArray<OptionalSuite>} */
export const missingSuites = optionalSuites.filter((suite) => !suite.probe())
