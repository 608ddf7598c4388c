/** What the sandbox calls a thing, and what its clients do. @internal */
export interface TwoWay {
  readonly outside: (inside: string) => string
  /** What is unknown stays as it is. */
  readonly inside: (outside: string) => string
  readonly knows: (outside: string) => boolean
}

/** `make` gets the inner name and its number, from 1. @internal */
export const make = (name: (inside: string, number: number) => string): TwoWay => {
  const outer = new Map<string, string>()
  const inner = new Map<string, string>()
  return {
    outside: (inside) => {
      const known = outer.get(inside)
      if (known !== undefined) return known
      const made = name(inside, outer.size + 1)
      outer.set(inside, made)
      inner.set(made, inside)
      return made
    },
    inside: (outside) => inner.get(outside) ?? outside,
    knows: (outside) => inner.has(outside)
  }
}
