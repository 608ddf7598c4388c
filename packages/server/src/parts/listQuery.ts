/** The query of a list request, read and checked: `page[...]`, `sort` and `filter[...]`. */
import * as Either from "effect/Either"
import * as ServiceRefused from "../ServiceRefused.js"
import type { Filter, ListRecord, Resource } from "./listResources.js"

/**
 * One field to sort by, and the direction.
 *
 * @category models
 */
export interface Sort {
  readonly field: string
  readonly direction: "asc" | "desc"
}

/**
 * A well-formed list request. `signature` is the same for two requests that walk the same list, whatever page they ask
 * for.
 *
 * @category models
 */
export interface ListQuery {
  readonly limit: number
  readonly startCursor: string | undefined
  readonly sort: ReadonlyArray<Sort>
  readonly matches: (record: ListRecord) => boolean
  readonly signature: string
}

const LARGEST_LIMIT = 100

type Refusable<A> = Either.Either<A, ServiceRefused.ServiceRefused>

const refuse = (path: string, message: string) => Either.left(ServiceRefused.invalid(path, message))

const parseLimit = (text: string | undefined): Refusable<number> => {
  if (text === undefined) {
    return Either.right(LARGEST_LIMIT)
  }
  const limit = /^\d+$/.test(text) ? Number(text) : Number.NaN
  return limit >= 1 && limit <= LARGEST_LIMIT
    ? Either.right(limit)
    : refuse("page.limit", `An integer from 1 to ${LARGEST_LIMIT}`)
}

const parseSort = (resource: Resource, texts: ReadonlyArray<string>): Refusable<ReadonlyArray<Sort>> => {
  const sorts: Array<Sort> = []
  for (const text of texts) {
    const [field = "", direction = "asc", ...rest] = text.split(":")
    if (!resource.sort.includes(field) || rest.length > 0 || (direction !== "asc" && direction !== "desc")) {
      return refuse("sort", `One of ${resource.sort.join(", ")}, then :asc or :desc`)
    }
    sorts.push({ field, direction })
  }
  return Either.right(sorts.length === 0 ? [{ field: "created_at", direction: "desc" }] : sorts)
}

/**
 * The values at a path in a record. A list on the way stands for all its elements. A missing value is `null`.
 *
 * @category combinators
 */
export const valuesAt = (record: unknown, path: string): ReadonlyArray<unknown> =>
  path.split(".").reduce<ReadonlyArray<unknown>>(
    (values, field) =>
      values.flatMap((value) => {
        const next: unknown = typeof value === "object" && value !== null
          ? Object.getOwnPropertyDescriptor(value, field)?.value
          : undefined
        return Array.isArray(next) ? next : [next ?? null]
      }),
    [record]
  )

type Predicate = (record: ListRecord) => boolean

const textOf = (value: unknown): string => typeof value === "string" ? value : String(value)

const comparisons: Readonly<
  Record<Filter["kind"], Readonly<Record<string, (value: unknown, wanted: string) => boolean>>>
> = {
  id: { equal_to: (value, wanted) => textOf(value) === wanted },
  text: {
    contains: (value, wanted) => textOf(value).toLowerCase().includes(wanted.toLowerCase()),
    equal_to: (value, wanted) => textOf(value) === wanted
  },
  time: {
    gt: (value, wanted) => Date.parse(textOf(value)) > Date.parse(wanted),
    gte: (value, wanted) => Date.parse(textOf(value)) >= Date.parse(wanted),
    lt: (value, wanted) => Date.parse(textOf(value)) < Date.parse(wanted),
    lte: (value, wanted) => Date.parse(textOf(value)) <= Date.parse(wanted)
  },
  flag: { equal_to: (value, wanted) => textOf(value) === wanted }
}

const FILTER = /^filter\[([^\]]+)\](?:\[([^\]]*)\])?$/

interface Condition {
  readonly name: string
  readonly operator: string
  readonly wanted: string
}

const isIndex = (text: string): boolean => text === "" || /^\d+$/.test(text)

// A client may ask for "constructor"
const own = <A>(record: Readonly<Record<string, A>>, name: string): A | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined

const toPredicate = (
  resource: Resource,
  name: string,
  conditions: ReadonlyArray<Condition>
): Refusable<Predicate> => {
  const filter = own(resource.filters, name)
  if (filter === undefined) {
    return refuse(`filter.${name}`, "Unknown filter")
  }
  const operators = comparisons[filter.kind]
  for (const { operator, wanted } of conditions) {
    if (own(operators, operator) === undefined) {
      return refuse(`filter.${name}.${operator}`, `One of ${Object.keys(operators).join(", ")}`)
    }
    if (filter.kind === "time" && Number.isNaN(Date.parse(wanted))) {
      return refuse(`filter.${name}.${operator}`, "An ISO 8601 date and time")
    }
  }
  // several values of an id are alternatives; both ends of a time range must hold
  const test = (record: ListRecord) => ({ operator, wanted }: Condition) =>
    valuesAt(record, filter.field).some((value) => operators[operator]?.(value, wanted) ?? false)
  return Either.right(
    filter.kind === "id"
      ? (record) => conditions.some(test(record))
      : (record) => conditions.every(test(record))
  )
}

const parseFilters = (
  resource: Resource,
  parameters: ReadonlyArray<readonly [string, string]>
): Refusable<Predicate> => {
  const conditions = new Map<string, Array<Condition>>()
  for (const [parameter, wanted] of parameters) {
    const [, name, bracket] = FILTER.exec(parameter) ?? []
    if (name === undefined) {
      return refuse(parameter, "Unknown parameter")
    }
    const operator = bracket === undefined || isIndex(bracket) ? "equal_to" : bracket
    conditions.set(name, [...(conditions.get(name) ?? []), { name, operator, wanted }])
  }
  const exclusive = resource.exclusive.filter((name) => conditions.has(name))
  if (exclusive.length > 1) {
    return refuse(`filter.${exclusive[1]}`, `Only one of ${resource.exclusive.join(", ")}`)
  }
  return Either.map(
    Either.all([...conditions].map(([name, of]) => toPredicate(resource, name, of))),
    (predicates) => (record) => predicates.every((predicate) => predicate(record))
  )
}

/**
 * Reads the query of a list request: `search` is the part after the question mark. Unknown parameters and filters, and
 * values out of range, are refused with a 400 `ValidationError` that names the parameter.
 *
 * @category constructors
 */
export const parse = (resource: Resource, path: string, search: string): Refusable<ListQuery> =>
  Either.gen(function*() {
    const parameters = new URLSearchParams(search)
    const startCursor = parameters.get("page[start_cursor]") ?? undefined
    const limit = yield* parseLimit(parameters.get("page[limit]") ?? undefined)
    const sort = yield* parseSort(resource, parameters.getAll("sort"))
    const others = [...parameters].filter(([name]) =>
      name !== "sort" && name !== "page[limit]" && name !== "page[start_cursor]"
    )
    const matches = yield* parseFilters(resource, others)
    return { limit, startCursor, sort, matches, signature: JSON.stringify([path, sort, others]) }
  })
