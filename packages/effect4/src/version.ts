/**
 * A version of the line for Effect 4: the one for Effect 3 without its leading zero. What may break there at 0.2 may break
 * here at 2, so a range means the same on both: `^0.1.0` is `^1.0.0`.
 */
export const versionOn4 = (version: string): string => {
  const on4 = version.replace(/^(\D*)0\.(\d+)\.(\d+)/, "$1$2.$3.0")
  if (on4 === version) throw new Error(`${version} is no version of the line for Effect 3`)
  return on4
}
