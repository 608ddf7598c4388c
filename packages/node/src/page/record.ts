import { ExactNumber } from "@stevedore/core/Json"
import * as Predicate from "effect/Predicate"

// What the records of the service's documented endpoints contain, at any depth
const documented = [
  ...[
    "id",
    "name",
    "type",
    "size",
    "status",
    "author",
    "created_at",
    "updated_at",
    "title",
    "deleted",
    "text",
    "email"
  ],
  ...["folder", "parent_folder", "project", "project_id", "author_id", "note_id", "tags", "start_time", "end_time"],
  ...["fields", "label", "value"]
]

/** So deep do documented records nest, and some more. */
const deepest = 8

// What a record has besides its own fields returns to its place
const inPlace = ({ extra, ...fields }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => ({
  ...(Predicate.isRecord(extra) ? extra : {}),
  ...fields
})

type Chosen = (record: Readonly<Record<string, unknown>>) => ReadonlyArray<readonly [name: string, inside: Chosen]>

const everything: Chosen = (record) => Object.keys(record).map((name) => [name, everything])

const chosen = (value: unknown, choose: Chosen, depth: number): unknown => {
  if (depth > deepest) return null
  if (Array.isArray(value)) return value.map((one) => chosen(one, choose, depth + 1))
  if (!Predicate.isRecord(value) || value instanceof ExactNumber) return value
  const record = choose === everything ? value : inPlace(value)
  return Object.fromEntries(choose(record).map(([name, inside]) => [name, chosen(record[name], inside, depth + 1)]))
}

const documentedNames: ReadonlySet<string> = new Set(documented)

/**
 * A record as a page may have it: the documented fields, and those that the application names. A service may put
 * anything else into a record, such as a signed URL or notes of its operators.
 */
export const forPages = (record: unknown, forward: ReadonlyArray<string>): unknown => {
  const named: Chosen = (record) =>
    Object.keys(record).flatMap((name): ReturnType<Chosen> =>
      forward.includes(name) ? [[name, everything]] : documentedNames.has(name) ? [[name, named]] : []
    )
  return chosen(record, named, 0)
}
