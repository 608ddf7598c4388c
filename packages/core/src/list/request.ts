import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import { flow } from "effect/Function"
import * as Option from "effect/Option"
import type * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type { Leaf } from "../base/effect.js"
import { decodeKeeping, leavesOf } from "../base/effect.js"
import type { Checkpoint } from "../Checkpoints.js"
import { fingerprint } from "../Checkpoints.js"
import { rounded } from "../Json.js"
import { CheckpointMismatch, InvalidListOption, InvalidPageSize } from "../ListError.js"
import type { PageRequest } from "../service/endpoints.js"
import type { Service } from "../ServiceApi.js"

/** A list as a walk needs it: its Schemas as functions. */
export interface ListShape<A> {
  readonly path: string
  readonly decode: (item: unknown) => Either.Either<A, ParseResult.ParseError>
  /** Validates filters as a program writes them, and encodes them for the wire. */
  readonly encodeFilters: (filters: unknown) => Either.Either<Readonly<Record<string, unknown>>, ParseResult.ParseError>
  readonly sortFields: ReadonlyArray<string>
}

/** The options of a walk. The filters are beside them, under names that the list knows. */
export interface Wishes {
  readonly sort?: string | ReadonlyArray<string> | undefined
  readonly pageSize?: number | undefined
  readonly from?: Checkpoint | undefined
  readonly onInvalid?: "fail" | "skip" | undefined
}

/** A validated walk. */
export interface Prepared<A> extends Omit<PageRequest, "cursor"> {
  readonly decode: ListShape<A>["decode"]
  readonly fingerprint: string
  readonly from: Checkpoint | undefined
  readonly onInvalid: "fail" | "skip"
}

type Refusal = InvalidPageSize | InvalidListOption | CheckpointMismatch

const sentences: Readonly<Record<string, string>> = {
  Missing: "a filter is missing",
  Unexpected: "this list has no such filter"
}

export const refuse = (path: string, option: string, problem: string): Either.Either<never, InvalidListOption> =>
  Either.left(new InvalidListOption({ path, option, problem }))

const wordsOf = (issue: ParseResult.ParseIssue): string => {
  const words = issue._tag === "Type"
    ? issue.message
    : issue._tag === "Refinement"
    ? Option.getOrUndefined(SchemaAST.getMessageAnnotation(issue.ast))?.(issue)
    : undefined
  return typeof words === "string" && /^expected /.test(words) ? words : "a value of the wrong type"
}

/** Whether a problem says more than the others of the same filters. */
const isTelling = ({ issue }: Leaf): boolean => issue._tag === "Unexpected" || issue._tag === "Refinement"

/** Why the filters were refused: in our own words if the Schema has any, and never with the value. */
const filterRefusal = (path: string) => (error: ParseResult.ParseError): InvalidListOption => {
  const leaves = leavesOf(error.issue)
  const leaf = leaves.find(isTelling) ?? leaves[0]
  return new InvalidListOption({
    path,
    option: leaf.path.map(String).join("."),
    problem: sentences[leaf.issue._tag] ?? wordsOf(leaf.issue)
  })
}

const empty = "expected at least one value: without any, the whole list would be requested"

const unsendable = "expected what JSON can hold: its Schema must encode it"

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

/**
 * What in an encoded filter cannot be expressed in a query, and where. It would be missing from the query, and
 * everything would be walked.
 */
const problemOf = (option: string, value: unknown): Option.Option<readonly [option: string, problem: string]> => {
  if (typeof value !== "object" || value === null) {
    return ["string", "number", "boolean", "bigint"].includes(typeof value) || value === null
      ? Option.none()
      : Option.some([option, unsendable])
  }
  if (!Array.isArray(value) && !isPlain(value)) return Option.some([option, unsendable])
  const given = Object.entries(value).filter(([, one]) => Array.isArray(value) || one !== undefined)
  return given.length === 0
    ? Option.some([option, empty])
    : Arr.findFirst(given, ([key, one]) => problemOf(`${option}.${key}`, one))
}

const checkFilters = (
  path: string,
  filters: Readonly<Record<string, unknown>>
): Either.Either<void, InvalidListOption> => {
  const found = Arr.findFirst(
    Object.entries(filters),
    ([name, value]) => value === undefined ? Option.none() : problemOf(name, value)
  )
  return Option.isSome(found) ? refuse(path, ...found.value) : Either.void
}

// A path is appended to the base URL and normalized: `..` would lead to another call, also when written as `%2e%2e` or
// between backslashes, which count as slashes. What is no character becomes another in a URL.
const checkPath = (path: string): Either.Either<string, InvalidListOption> =>
  /^(\/[^/?#\\\s\p{Surrogate}]+)+$/u.test(path) && !/\/(\.|%2e){1,2}(\/|$)/i.test(path)
    ? Either.right(path)
    : refuse(path, "path", "expected a path such as /v1/projects, without empty segments")

const checkSort = (
  shape: ListShape<unknown>,
  sort: Wishes["sort"]
): Either.Either<ReadonlyArray<string>, InvalidListOption> => {
  const sorts = sort === undefined ? [] : Arr.ensure(sort)
  const allowed = shape.sortFields.flatMap((field) => [`${field}:asc`, `${field}:desc`])
  if (sorts.every((one) => allowed.includes(one))) return Either.right(sorts)
  return refuse(
    shape.path,
    "sort",
    allowed.length === 0 ? "this list cannot be sorted" : `expected ${allowed.join(", ")}`
  )
}

const checkFrom = (
  path: string,
  wanted: string,
  from: Checkpoint | undefined
): Either.Either<Checkpoint | undefined, CheckpointMismatch | InvalidListOption> => {
  if (from === undefined) return Either.right(from)
  if (!Predicate.hasProperty(from, "path") || !Predicate.isString(from.path)) {
    return refuse(path, "from", "expected a checkpoint")
  }
  if (from.path === path && from.fingerprint === wanted) return Either.right(from)
  const [service] = wanted.split(".")
  const what = !from.fingerprint.startsWith(`${service}.`) ? "service" : from.path === path ? "filters" : "list"
  return Either.left(new CheckpointMismatch({ path, checkpointPath: from.path, what }))
}

const flatten = (name: string, value: unknown): ReadonlyArray<readonly [string, string]> => {
  if (value === undefined) return []
  if (Array.isArray(value)) return value.flatMap((one, index) => flatten(`${name}[${index}]`, one))
  if (Predicate.isRecord(value)) {
    return Object.entries(value).flatMap(([key, one]) => flatten(`${name}[${key}]`, one))
  }
  return [[name, String(value)]]
}

/**
 * Encoded filters as query parameters, in the order of their names (service contract: `filter[name]=`, `filter[name][op]=`,
 * arrays as `filter[name][0]=`). Only what is sent as text has a parameter: an empty
 * array has none, and neither has a `Date` that no Schema encoded. The lists refuse both.
 */
const toQuery = (filters: Readonly<Record<string, unknown>>): ReadonlyArray<readonly [string, string]> =>
  Object.keys(filters).sort().flatMap((name) => flatten(`filter[${name}]`, filters[name]))

/** Validates everything about a walk, before any request. */
export const prepare = <A>(
  shape: ListShape<A>,
  wishes: Wishes,
  { baseUrl, profile: { limits: { pageSize: largestPage } } }: Pick<Service, "baseUrl" | "profile">
): Either.Either<Prepared<A>, Refusal> =>
  Either.gen(function*() {
    const { from, onInvalid, pageSize, sort, ...rest } = wishes
    const path = yield* checkPath(shape.path)
    const limit = pageSize ?? largestPage
    if (!Predicate.isNumber(limit)) return yield* refuse(path, "pageSize", "expected a whole number")
    if (!Number.isInteger(limit) || limit < 1 || limit > largestPage) {
      return yield* Either.left(new InvalidPageSize({ pageSize: limit, maximum: largestPage }))
    }
    const filters = yield* Either.mapLeft(shape.encodeFilters(rest), filterRefusal(path))
    yield* checkFilters(path, filters)
    const sorts = yield* checkSort(shape, sort)
    const query = [...sorts.map((one) => ["sort", one] as const), ...toQuery(filters)]
    const mark = fingerprint(baseUrl, path, query)
    return {
      path,
      limit,
      query,
      decode: shape.decode,
      fingerprint: mark,
      from: yield* checkFrom(path, mark, from),
      onInvalid: onInvalid ?? "fail"
    }
  })

const Fields = Schema.Record({ key: Schema.String, value: Schema.Unknown })

const asFields = Schema.decodeUnknownEither(Fields)

// A Schema that asks for a number gets the nearest one
const decodeItem = <A>(decode: ListShape<A>["decode"]): ListShape<A>["decode"] => (item) =>
  Either.orElse(decode(item), (error) => Either.mapLeft(decode(rounded(item)), () => error))

/** The Schemas of a list as functions. Unknown fields of an item are kept; unknown filters are refused. */
export const shapeOf = <A, I, F, FI>(list: {
  readonly path: string
  readonly item: Schema.Schema<A, I>
  readonly filters: Schema.Schema<F, FI>
  readonly sorts: ReadonlyArray<string>
}): ListShape<A> => ({
  path: list.path,
  decode: decodeItem(decodeKeeping(list.item)),
  encodeFilters: flow(
    Schema.encodeUnknownEither(list.filters, { onExcessProperty: "error" }),
    Either.flatMap(asFields)
  ),
  sortFields: list.sorts
})

/** The same list for filters in wire format. */
export const untypedShape = <A, F, FI>(shape: ListShape<A>, filters: Schema.Schema<F, FI>): ListShape<A> => {
  const decode = Schema.decodeUnknownEither(filters, { onExcessProperty: "error" })
  return { ...shape, encodeFilters: (given) => Either.flatMap(decode(given), shape.encodeFilters) }
}
