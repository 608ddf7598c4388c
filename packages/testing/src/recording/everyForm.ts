import * as Cause from "effect/Cause"
import * as Inspectable from "effect/Inspectable"
import * as Predicate from "effect/Predicate"

const DEEPEST = 12
const MOST_VALUES = 5000

const attempt = (form: () => unknown): ReadonlyArray<string> => {
  try {
    const text = form()
    return Predicate.isString(text) ? [text] : []
  } catch {
    return []
  }
}

const printed = (value: object): ReadonlyArray<string> => [
  ...attempt(() => JSON.stringify(value)),
  ...attempt(() => String(value)),
  ...attempt(() => Inspectable.format(value)),
  ...(Cause.isCause(value) ? attempt(() => Cause.pretty(value, { renderErrorCause: true })) : [])
]

const isBytes = (value: object): boolean => ArrayBuffer.isView(value) || value instanceof ArrayBuffer

// The contents of the platform's own classes are in none of their properties, but consoles print them
const withinPlatformClass = (value: object): ReadonlyArray<unknown> => {
  if (value instanceof Map || value instanceof Headers || value instanceof FormData) return [...value.entries()].flat()
  if (value instanceof Set) return [...value]
  if (value instanceof URL || value instanceof URLSearchParams) return [String(value)]
  return value instanceof Request || value instanceof Response ? [value.url, value.headers] : []
}

/**
 * Everything that a logger, a tracer or an inspector could print of a value: the value's own rendering, and everything
 * its properties contain, including hidden ones.
 */
export const everyForm = (value: unknown): ReadonlyArray<string> => {
  const seen = new Set<object>()
  const texts: Array<string> = []
  const visit = (one: unknown, depth: number): void => {
    if (Predicate.isString(one)) {
      texts.push(one)
      return
    }
    if (!Predicate.isObject(one) || Predicate.isFunction(one)) {
      texts.push(String(one))
      return
    }
    if (seen.has(one) || seen.size >= MOST_VALUES || depth > DEEPEST || isBytes(one)) {
      return
    }
    seen.add(one)
    // nested values are visited on their own
    if (depth === 0 || one instanceof Error) {
      printed(one).forEach((text) => texts.push(text))
    }
    for (const value of withinPlatformClass(one)) {
      visit(value, depth + 1)
    }
    for (const key of Reflect.ownKeys(one)) {
      texts.push(String(key))
      const descriptor = Reflect.getOwnPropertyDescriptor(one, key)
      visit(descriptor?.value, depth + 1)
    }
  }
  visit(value, 0)
  return texts
}
