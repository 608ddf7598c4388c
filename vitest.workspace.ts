import { existsSync } from "node:fs"
import type { Alias } from "vite"
import type { TestProjectInlineConfiguration } from "vitest/config"
import { missingSuites } from "./.ci/optional-suites.mjs"
import { packages, root } from "./.ci/packages.mjs"

// TEST_DIST=1 runs the same tests against what `npm run build` made: packages then resolve through their own `exports`
const againstDist = process.env.TEST_DIST === "1"

// a test may use the support of another package's tests: what that calls `../../src/` is the other package's own
const built = (name: string, importer: string | undefined) => {
  const home = packages.find(({ path }) => importer?.startsWith(`${path}/`))
  // what is not published is not built: its own modules stay as they are, over the built ones of the others
  return home !== undefined && existsSync(`${home.path}/tsconfig.build.json`) ? `${home.path}/dist/${name}.js` : null
}

const alias: ReadonlyArray<Alias> = againstDist
  ? [{ find: /^(?:\.\.\/)+src\/(.*)\.js$/, replacement: "$1", customResolver: built }]
  : [
    { find: /^@stevedore\/([^/]+)$/, replacement: `${root}/packages/$1/src/index.ts` },
    { find: /^@stevedore\/([^/]+)\/(.+)$/, replacement: `${root}/packages/$1/src/$2.ts` }
  ]

const exclude = ["**/node_modules/**", ...missingSuites.map((suite) => `${root}/${suite.files}`)]

// tests that take longer than half a second, and those of bulk, which nearly all do
const slow = ["packages/*/test/slow/**/*.test.ts", "packages/bulk/test/**/*.test.ts"]

// one project for all packages, so that a process loads Effect and the packages once for all their files
const shared = (name: string, include: ReadonlyArray<string>, without: ReadonlyArray<string>) => ({
  extends: true as const,
  resolve: { alias: [...alias] },
  test: {
    name,
    root,
    include: [...include],
    exclude: [...exclude, "packages/*/test/integration/**", ...without],
    // a property or a process may take long on a busy machine
    testTimeout: 60_000
  }
})

const integration = packages
  .filter(({ path }) => existsSync(`${path}/test/integration`))
  .map(({ directory, path }): TestProjectInlineConfiguration => ({
    extends: true,
    resolve: { alias: [...alias] },
    test: {
      name: `${directory}/integration`,
      root: path,
      include: ["test/integration/**/*.test.ts"],
      exclude,
      testTimeout: 120_000,
      // three browsers may start at once, each with a page that is bundled first
      hookTimeout: 180_000
    }
  }))

export const projects: ReadonlyArray<TestProjectInlineConfiguration> = [
  shared("unit", ["packages/*/{test,testing,archive}/**/*.test.ts"], slow),
  shared("slow", slow, []),
  ...integration,
  // of what `npm run build` made, as npm packs it
  {
    extends: true,
    resolve: { alias: [...alias] },
    test: {
      name: "packed",
      root,
      include: ["packages/*/packed/*.test.ts"],
      exclude,
      globalSetup: "packages/examples/packed/setup.ts",
      testTimeout: 300_000,
      hookTimeout: 600_000
    }
  }
]

export default projects
