import * as effect from "@effect/eslint-plugin"
import sortDestructureKeys from "eslint-plugin-sort-destructure-keys"
import tseslint from "typescript-eslint"
import { bytesSlice } from "./.ci/bytes-slice-rule.mjs"
import { docstring } from "./.ci/docstring-rule.mjs"
import { style } from "./.ci/style.mjs"

const pushWithSpread = {
  selector: "CallExpression[callee.property.name='push'] > SpreadElement.arguments",
  message: "Array.push with a spread overflows the stack on a long array: concatenate instead"
}

const unsafeInSource = [
  {
    selector: "TSAsExpression:not([typeAnnotation.type='TSTypeReference'][typeAnnotation.typeName.name='const'])",
    message: "No `as` in src: decode with Schema, narrow with a guard, or use `satisfies`"
  },
  { selector: "TSTypeAssertion", message: "No type assertion in src: decode with Schema or narrow with a guard" },
  {
    selector: "MemberExpression[object.name='Effect'][property.name='orDie']",
    message: "Effect.orDie turns a failure the caller could handle into a defect: keep it typed"
  },
  // a limit is awaited by the fiber itself, and that of a finalizer may be one that was interrupted
  ...[
    "CallExpression > CallExpression[callee.property.name=/^timeout/] ~ MemberExpression[object.name='Effect'][property.name='interruptible']",
    "CallExpression[callee.object.name='Effect'][callee.property.name='interruptible'] > CallExpression[callee.property.name=/^timeout/]"
  ].map((selector) => ({
    selector,
    message: "Interruptible within the limit, not around it: a finalizer of an interrupted fiber would end at once"
  })),
  {
    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
    message: "Time comes from Effect's Clock: tests have to be able to set it"
  }
]

const clockAndRandom = [
  { object: "Date", property: "now", message: "Time comes from Effect's Clock: tests have to be able to set it" },
  {
    object: "Math",
    property: "random",
    message: "Randomness comes from Effect's Random: tests have to be able to seed it"
  }
]

// A barrel makes a bundler read every module behind it: src imports the module it means
const effectBarrels = ["effect", "@effect/platform", "@effect/platform-node", "@effect/platform-browser"]

const imports = {
  paths: [
    ...effectBarrels.map((name) => ({
      name,
      message: `Import the module you mean, as in import * as X from "${name}/X"`
    })),
    {
      name: "node:process",
      message:
        "Take the global one: Node reads every property of what is imported so, and opens the application's standard input"
    }
  ],
  patterns: [{
    regex: "^@stevedore/[^/]+$",
    message: "Import the module you mean, as in \"@stevedore/core/Uploads\""
  }]
}

/** @param {number} lineWidth */
const styleOf = (lineWidth) => ["error", { config: { ...style, lineWidth } }]

export default tseslint.config(
  { ignores: ["**/dist/", "**/node_modules/", "**/.cache/", "**/coverage/"] },
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
  {
    files: ["**/*.ts", "**/*.tsx", "**/*.mjs", "**/*.js"],
    extends: [...tseslint.configs.recommended, ...effect.configs.dprint],
    plugins: { "sort-destructure-keys": sortDestructureKeys },
    rules: {
      "@effect/dprint": styleOf(120),
      "object-shorthand": "error",
      "sort-destructure-keys/sort-destructure-keys": "error",
      "@typescript-eslint/array-type": ["error", { default: "generic", readonly: "generic" }],
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      // a tag's class, its service and its namespace share one name, and `{}` is the tag's empty body
      "@typescript-eslint/no-empty-object-type": "off",
      "@typescript-eslint/no-namespace": "off",
      "@typescript-eslint/no-redeclare": "off",
      // Effect.gen without a yield is still a generator
      "require-yield": "off",
      "no-restricted-syntax": ["error", pushWithSpread]
    }
  },
  {
    // the pages show these, in a column of 80 characters
    files: [
      "packages/examples/src/{ReactElement,ReactQueue,SolidElement,SolidQueue,SvelteQueue,VueElement,VueQueue,Minutes,ObjectSource,ReactProjects,UrlPerPart,UploadFromExpress,UploadFromRequest}.{ts,tsx}",
      "packages/examples/runtimes/Layers.ts",
      "packages/examples/{archive,testing}/**/*.ts",
      "packages/examples/test/SavingNotes.test.ts",
      "packages/examples/packed/trials/effect4/*.ts"
    ],
    rules: { "@effect/dprint": styleOf(80) }
  },
  {
    // these three need types; floating effects are found by the Effect diagnostics of `npm run check`
    files: ["packages/*/src/**/*.ts", "packages/*/src/**/*.tsx", "packages/*/test/**/*.ts"],
    languageOptions: { parserOptions: { project: "./tsconfig.json", tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/no-deprecated": "error",
      "@typescript-eslint/no-floating-promises": "error"
    }
  },
  {
    files: ["packages/*/src/**/*.ts", "packages/*/src/**/*.tsx"],
    plugins: { bytes: { rules: { slice: bytesSlice } } },
    rules: {
      "bytes/slice": "error",
      "@typescript-eslint/no-non-null-assertion": "error",
      "no-restricted-syntax": ["error", pushWithSpread, ...unsafeInSource],
      "no-restricted-properties": ["error", ...clockAndRandom],
      "no-restricted-imports": ["error", imports],
      "no-console": "error"
    }
  },
  {
    files: ["packages/*/src/**/*.ts", "packages/*/src/**/*.tsx"],
    ignores: [
      "packages/*/src/*/**",
      "**/src/index.ts",
      "**/src/bin.ts",
      "packages/examples/**",
      "packages/bench/**",
      "packages/effect4/**"
    ],
    plugins: { stevedore: { rules: { docstring } } },
    rules: { "stevedore/docstring": "error" }
  },
  {
    // each declaration takes the place of another, in a file that is not this one
    files: ["packages/effect4/seams/**/*.ts"],
    rules: { "@typescript-eslint/no-unused-vars": "off", "@typescript-eslint/no-explicit-any": "off" }
  },
  {
    // examples are written as users write: with barrels and the console
    files: ["packages/examples/src/**/*.{ts,tsx}", "packages/bench/src/**/*.ts"],
    rules: {
      "no-restricted-imports": "off",
      "no-console": "off"
    }
  }
)
