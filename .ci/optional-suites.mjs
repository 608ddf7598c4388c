// Suites that need something a machine may not have. Each names its files, what it needs and how to get it, and probes for it:
// vitest.workspace.ts leaves out what the probe does not find, .ci/test.mjs says so, and .ci/run does not accept it.

/**
 * @typedef {object} OptionalSuite
 * @property {string} files glob of the test files, from the repository's root
 * @property {string} needs what must be there, in words
 * @property {string} install how a user gets it
 * @property {() => boolean} probe whether it is there; quick, without side effects
 */

/** @type {ReadonlyArray<OptionalSuite>} */
export const optionalSuites = []

/** @type {ReadonlyArray<OptionalSuite>} */
export const missingSuites = optionalSuites.filter((suite) => !suite.probe())
