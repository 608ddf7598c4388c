import * as Arr from "effect/Array"
import * as Option from "effect/Option"
import * as Order from "effect/Order"

// Levenshtein's, by its table, a row for each character
const distance = (one: string, other: string): number =>
  [...one].reduce<ReadonlyArray<number>>(
    (above, letter, row) =>
      [...other].reduce<ReadonlyArray<number>>(
        (line, given, index) => [
          ...line,
          Math.min(
            (line[index] ?? 0) + 1,
            (above[index + 1] ?? 0) + 1,
            (above[index] ?? 0) + (letter === given ? 0 : 1)
          )
        ],
        [row + 1]
      ),
    Arr.range(0, [...other].length)
  ).at(-1) ?? 0

// One mistake in a short word, and one in three characters of a long one
const isNear = (word: string, off: number): boolean => off <= Math.max(1, Math.floor(word.length / 3))

/** The name that was probably meant: the most similar one, or the only one that begins like it. */
export const nearest = (word: string, names: Iterable<string>): Option.Option<string> => {
  const all = Arr.sort(
    Arr.map(Arr.fromIterable(names), (name) => ({ name, off: distance(word, name) })),
    Order.mapInput(Order.number, ({ off }: { readonly off: number }) => off)
  )
  const begun = word.length < 3 ? [] : all.filter(({ name }) => name.startsWith(word))
  const [found] = begun.length === 1 ? begun : all.filter(({ off }) => isNear(word, off))
  return Option.map(Option.fromNullable(found), ({ name }) => name)
}

/**
 * The end of a sentence about a name that does not exist: a question, if other tools call something so, or if another name
 * was probably meant.
 */
export const question = (word: string, names: Iterable<string>, known?: string): string => {
  const meant = known ?? Option.getOrUndefined(nearest(word, names))
  return meant === undefined ? "." : `: did you mean ${meant}?`
}
