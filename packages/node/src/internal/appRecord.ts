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

const named = (value: unknown, names: ReadonlySet<string>, forward: ReadonlySet<string>, depth: number): unknown => {
  if (depth > deepest) return null
  if (Array.isArray(value)) return value.map((one) => named(one, names, forward, depth + 1))
  return Predicate.isRecord(value)
    ? Object.fromEntries(
      Object.entries(inPlace(value)).flatMap(([key, inner]): ReadonlyArray<readonly [string, unknown]> =>
        forward.has(key) ? [[key, inner]] : names.has(key) ? [[key, named(inner, names, forward, depth + 1)]] : []
      )
    )
    : value
}

const documentedNames: ReadonlySet<string> = new Set(documented)

/**
 * A record as a page may have it: the documented fields, and those that the application names. A service may put
 * anything else into a record, such as a signed URL or notes of its operators.
 *
 * @internal
 */
export const forPages = (record: unknown, forward: ReadonlyArray<string>): unknown =>
  named(record, documentedNames, new Set(forward), 0)
