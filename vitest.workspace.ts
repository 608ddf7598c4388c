import { existsSync } from "node:fs"
import type { TestProjectInlineConfiguration } from "vitest/config"
import { missingSuites } from "./.ci/optional-suites.mjs"
import { packages, root } from "./.ci/packages.mjs"

// TEST_DIST=1 runs the same tests against what `npm run build` made: packages then resolve through their own `exports`
const againstDist = process.env.TEST_DIST === "1"

const alias = (path: string) =>
  againstDist
    // what is not published is not built: its own modules stay as they are, over the built ones of the others
    ? existsSync(`${path}/tsconfig.build.json`)
      ? [{ find: /^(?:\.\.\/)+src\/(.*)\.js$/, replacement: `${path}/dist/$1.js` }]
      : []
    : [
      { find: /^@stevedore\/([^/]+)$/, replacement: `${root}/packages/$1/src/index.ts` },
      { find: /^@stevedore\/([^/]+)\/(.+)$/, replacement: `${root}/packages/$1/src/$2.ts` }
    ]

const exclude = ["**/node_modules/**", ...missingSuites.map((suite) => `${root}/${suite.files}`)]

export const projects: Array<TestProjectInlineConfiguration> = packages.flatMap(({ directory, path }) => [
  ...(existsSync(`${path}/test`)
    ? [{
      extends: true as const,
      resolve: { alias: alias(path) },
      test: {
        name: directory,
        root: path,
        include: ["test/**/*.test.ts", "testing/**/*.test.ts", "archive/**/*.test.ts"],
        exclude: [...exclude, "test/integration/**"],
        // a property or a process may take long on a busy machine
        testTimeout: 60_000
      }
    }]
    : []),
  ...(existsSync(`${path}/test/integration`)
    ? [{
      extends: true as const,
      resolve: { alias: alias(path) },
      test: {
        name: `${directory}/integration`,
        root: path,
        include: ["test/integration/**/*.test.ts"],
        exclude,
        testTimeout: 60_000,
        hookTimeout: 60_000
      }
    }]
    : [])
])

export default projects
