// Who may import whom: between packages, and between the floors of a package. A lower floor knows nothing of a higher one.

/** @param {ReadonlyArray<ReadonlyArray<string>>} floors the rooms of each, from the ground up */
const rooms = (floors) => floors.map((names) => [names.join("-"), `(?:${names.join("|")})/\\w+`])

/**
 * The floors from the ground up: in core the errors, and each closed room. A door, which is a module that users import, stands
 * where what it opens stands: imports are followed through doors.
 */
const floors = {
  core: [
    ["base", "base/\\w+"],
    ["errors", "(?:errors/\\w+|\\w+Error)"],
    ...["source", "storage", "parts", "service", "ledger", "gate", "list", "download", "upload"].map((
      room
    ) => [room, `${room}/\\w+`])
  ],
  node: rooms([["file"], ["ledger"], ["parts"], ["http"], ["page"], ["diagnosis"]]),
  bulk: rooms([["jobs"], ["runner"]]),
  testing: rooms([["faults"], ["recording"], ["sandbox"]]),
  server: rooms([["base", "parts", "storage"], ["s3"], ["sql"], ["life"], ["http"], ["node"]]),
  cli: rooms([
    ["print"],
    ["options"],
    ["connection"],
    ["profile"],
    ["files"],
    ["upload"],
    ["download", "list", "doctor", "bulk", "serve"],
    ["mcp"],
    ["line"]
  ]),
  browser: rooms([["base"], ["ledger"], ["queue"], ["words"], ["element"]])
}

const src = (name) => `^packages/${name}/src/`

/** @param {string} name @param {ReadonlyArray<string>} modules */
const paths = (name, modules) => `${src(name)}(?:${modules.join("|")})[.]ts$`

const floorRules = Object.entries(floors).flatMap(([name, all]) => [
  {
    name: `every-room-of-${name}-has-a-floor`,
    comment: `A module of ${name} is a door in src/, or stands in a room that .dependency-cruiser.mjs gives a floor`,
    severity: "error",
    from: {},
    to: { path: `${src(name)}.*/`, pathNot: paths(name, all.map(([, modules]) => modules)) }
  },
  ...all.slice(0, -1).map(([floor, modules], index) => ({
    name: `floor-of-${floor}-in-${name}`,
    comment:
      `What stands on the floor of ${floor} in ${name} knows nothing of the floors above it, not even through a door`,
    severity: "error",
    from: { path: paths(name, [modules]) },
    to: { path: paths(name, all.slice(index + 1).map(([, above]) => above)), reachable: true }
  }))
])

/** What each package may import, by its rule in the design; what is not listed there may not be imported. */
const mayImport = {
  core: [],
  node: ["core"],
  browser: ["core"],
  server: ["core"],
  testing: ["core", "server"],
  bulk: ["core", "node", "server"],
  cli: ["core", "node", "server", "testing", "bulk"]
}

const packageRules = Object.entries(mayImport).map(([name, others]) => ({
  name: `packages-of-${name}`,
  comment: others.length === 0
    ? `${name} stands on no other package of this repository`
    : `Of this repository, ${name} may import ${others.join(", ")}`,
  severity: "error",
  from: { path: src(name) },
  to: { path: "^packages/", pathNot: [name, ...others].map(src) }
}))

export default {
  forbidden: [
    ...packageRules,
    ...floorRules,
    {
      name: "no-cycle",
      comment: "Two modules that need each other are one module, or hide a third",
      severity: "error",
      from: {},
      to: { circular: true }
    },
    {
      name: "no-barrel-from-within",
      comment: "The index is for users; inside, the module is imported",
      severity: "error",
      from: { path: "^packages/(?!examples/|bench/)[^/]+/src/" },
      to: { path: "^packages/[^/]+/src/index[.]ts$" }
    },
    {
      name: "rooms-stay-inside",
      comment:
        "Rooms are closed in exports, but for the parts that sibling packages are made of: another package cannot import them",
      severity: "error",
      from: { path: "^packages/([^/]+)/" },
      to: { path: "^packages/[^/]+/src/[^/]+/", pathNot: ["^packages/$1/", "^packages/(?:core|server)/src/parts/"] }
    },
    {
      name: "runs-anywhere",
      comment: "core and browser run where there is no Node",
      severity: "error",
      from: { path: "^packages/(?:core|browser)/src/" },
      to: { dependencyTypes: ["core"] }
    },
    {
      name: "core-stands-on-effect-alone",
      comment: "core has two dependencies: effect and @effect/platform",
      severity: "error",
      from: { path: src("core") },
      to: { path: "node_modules", pathNot: "node_modules/(?:effect|@effect/platform)/" }
    },
    {
      name: "declared-dependencies",
      comment: "What src imports, a user's install must bring: declare it in the package's dependencies or peers",
      severity: "error",
      from: { path: "^packages/(?!examples/|bench/)[^/]+/src/" },
      to: {
        // … but for what the command's script brings in itself
        pathNot: "node_modules/@modelcontextprotocol/server/",
        dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"],
        dependencyTypesNot: ["npm", "npm-peer"]
      }
    },
    {
      name: "resolvable",
      comment: "The import leads nowhere",
      severity: "error",
      from: {},
      to: { couldNotResolve: true }
    }
  ],
  options: {
    // what is made, wherever: packages, a site, a page
    // … and what is written for Effect 4, whose modules are not installed here
    exclude: { path: "^packages/(?:.*/dist|examples/packed/trials|effect4/(?:seams|line))/" },
    doNotFollow: { path: "node_modules" },
    tsConfig: { fileName: "tsconfig.json" },
    // a type is knowledge too
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "types", "node", "default"],
      extensions: [".ts", ".tsx", ".js", ".mjs"]
    },
    cache: { folder: ".cache/dependency-cruiser", strategy: "content" }
  }
}
