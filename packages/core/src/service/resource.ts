import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { isJsonObject } from "../base/effect.js"
import { ExactNumber } from "../Json.js"
import type { ServiceError } from "../ServiceError.js"
import type { FieldName, ServiceProfile } from "../ServiceProfile.js"
import type { ServiceAnswer } from "./answer.js"
import { errorInside, invalid, parse } from "./answer.js"

/** An object of JSON. */
export type Fields = Readonly<Record<string, unknown>>

/** The single resource of a response, without its envelope. */
export interface Resource {
  readonly answer: ServiceAnswer
  /** Where it stands: `data`, or nothing for the whole body. */
  readonly at: string
  readonly fields: Fields
}

export const namesOf = (name: FieldName): readonly [string, ...ReadonlyArray<string>] =>
  typeof name === "string" ? [name] : name

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

// A field may have a dot in its own name
const valueUnder = (value: unknown, name: string): unknown => {
  if (!isJsonObject(value)) return undefined
  if (Object.hasOwn(value, name)) return value[name]
  const dot = name.indexOf(".")
  return dot === -1 ? undefined : valueUnder(valueUnder(value, name.slice(0, dot)), name.slice(dot + 1))
}

/** The value of the first of these fields that is there and not null. */
export const valueOf = (fields: unknown, name: FieldName): unknown =>
  namesOf(name).map((one) => valueUnder(fields, one)).find(isGiven)

/** Text that identifies something. A number does too, as it is written. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === "number" || value instanceof ExactNumber
    ? String(value)
    : typeof value === "string" && value !== ""
    ? value
    : undefined

const mostNames = 30

const deepest = 3

/** The names of the fields of an object and of the objects in it, for whoever writes a profile. */
export const namesIn = (value: unknown, depth = 1): ReadonlyArray<string> =>
  isJsonObject(value)
    ? Object.entries(value).flatMap(([name, one]) => {
      const inner = depth < deepest ? namesIn(one, depth + 1) : []
      return inner.length === 0 ? [name] : inner.map((innerName) => `${name}.${innerName}`)
    }).slice(0, mostNames)
    : []

/** The error for a field that is missing, or is not what it has to be. */
export const invalidField = (
  { answer, at, fields }: Resource,
  name: string,
  problem: { readonly words?: string | undefined; readonly profile?: string | undefined }
): ServiceError =>
  invalid(answer, at === "" ? name : `${at}.${name}`, problem.words ?? "a field is missing", {
    profile: problem.profile,
    received: namesIn(fields)
  })

/**
 * The single resource of a response, in its envelope as the profile says. If either is possible, it is where one of the
 * fields is that it must have.
 */
export const resourceOf = (
  profile: Pick<ServiceProfile, "envelope">,
  answer: ServiceAnswer,
  wanted: FieldName
): Either.Either<Resource, ServiceError> =>
  Either.flatMap(parse(answer), (json) => {
    const { envelope } = profile
    const isBare = envelope === "none" || envelope === "either"
    const name = isBare ? "data" : envelope
    const all = [[name, envelope === "none" ? undefined : valueUnder(json, name)], ["", isBare ? json : undefined]]
      .filter((one): one is [string, Fields] => isJsonObject(one[1]))
    const [at, fields] = all.find(([, fields]) => valueOf(fields, wanted) !== undefined) ?? all[0] ?? []
    const error = at ? Option.none() : errorInside(answer)
    if (Option.isSome(error)) return Either.left(error.value)
    return fields === undefined
      ? Either.left(invalid(answer, isBare ? "" : envelope, "no object", {
        profile: envelope === "either" ? undefined : "envelope",
        received: namesIn(json)
      }))
      : Either.right({ answer, at: at ?? "", fields })
  })
