// In each process of the tests: which mutant takes effect, and which of them each file of tests reaches.
import { appendFileSync } from "node:fs"
import { afterAll, expect } from "vitest"

declare global {
  var isMutated: (number: number) => boolean
}

const { MUTANT, MUTANTS_REACHED } = process.env
const chosen = MUTANT === undefined ? undefined : Number(MUTANT)
const reached = new Set<number>()

globalThis.isMutated = (number) => {
  reached.add(number)
  return number === chosen
}

afterAll(() => {
  if (MUTANTS_REACHED === undefined) return
  appendFileSync(MUTANTS_REACHED, `${JSON.stringify({ file: expect.getState().testPath, reached: [...reached] })}\n`)
  reached.clear()
})
