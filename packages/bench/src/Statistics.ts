/** What several runs of one contender say together. */

export interface Summary {
  readonly median: number
  readonly least: number
  readonly most: number
}

export const summary = (values: ReadonlyArray<number>): Summary => {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (index: number) => sorted[index] ?? NaN
  const middle = (sorted.length - 1) / 2
  return {
    median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
    least: at(0),
    most: at(sorted.length - 1)
  }
}
