import { FastCheck } from "effect"

const share = process.env["STEVEDORE_PROPERTIES"] === "whole" ? 1 : 5

/**
 * How often a property runs: of its whole number a fifth in `npm test`, to be quick, but at least 5; all of it in
 * `npm run test:all` and in the last pass of `.ci/run`.
 */
export const runs = (whole: number): number => Math.max(Math.ceil(whole / share), Math.min(whole, 5))

// it is also a setup file: for each property that names no number
FastCheck.configureGlobal({ numRuns: runs(100) })
