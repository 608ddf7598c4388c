/** Makes each finished file an entry of a project, once. */
import * as Imports from "@stevedore/core/Imports"
import type { ListError } from "@stevedore/core/ListError"
import type { ServiceApi } from "@stevedore/core/ServiceApi"
import type { ServiceError } from "@stevedore/core/ServiceError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import type { FileToUpload } from "../files/paths.js"
import type * as Manifest from "./manifest.js"
import * as Remembered from "./remembered.js"

interface Wanted {
  readonly file: FileToUpload
  readonly fileId: string
  readonly name: string
  readonly projectId: string
}

const titleColumn = "title"

const titleOf = ({ file, name }: Wanted): string =>
  Option.getOrElse(Option.flatMap(file.row, ({ fields }) => Record.get(fields, titleColumn)), () => name)

const fieldsOf = ({ file }: Wanted): Readonly<Record<string, string>> | undefined =>
  Option.match(file.row, {
    onNone: () => undefined,
    onSome: ({ fields }) => {
      const others = Record.remove(fields, titleColumn)
      return Record.size(others) === 0 ? undefined : others
    }
  })

// A service's clock may be behind ours
const clocksDiffer = 10 * 60_000

/** The entry that an import has made which may have begun at this time, in milliseconds since 1970, or later. */
export const madeSince = (of: { readonly projectId: string; readonly title: string }, begunAt: number) =>
  Imports.find({ ...of, since: new Date(begunAt - clocksDiffer) })

/**
 * The entry of a file, if its id is known. Imports the file, unless the manifest says that it was imported into this
 * project. The manifest says `begun` from before the call on: if a command was killed after that, the entry is looked for
 * before another is made.
 */
export const importing = (
  wanted: Wanted,
  manifest: Manifest.Manifest
): Effect.Effect<string | undefined, ServiceError | ListError, ServiceApi> =>
  Effect.gen(function*() {
    const { file, fileId, projectId } = wanted
    const title = titleOf(wanted)
    const known = Option.filter(yield* manifest.find(file.real), (one) => one.fileId === fileId)
    const before = Option.fromNullable(Option.getOrUndefined(known)?.imports?.[projectId])
    if (Option.exists(before, ({ state }) => state === "done")) return Option.getOrUndefined(before)?.id
    const note = (state: "begun" | "done", at: string, id?: string) =>
      Effect.asVoid(Effect.transposeMapOption(known, (one) =>
        manifest.add({
          ...one,
          imports: { ...one.imports, [projectId]: { state, at, ...(id === undefined ? {} : { id }) } }
        })))
    const made = Option.flatten(
      yield* Effect.transposeMapOption(before, ({ at }) => madeSince({ projectId, title }, Date.parse(at)))
    )
    const now = yield* Remembered.now
    if (Option.isSome(made)) return yield* Effect.as(note("done", now, made.value.id), made.value.id)
    yield* note("begun", now)
    const { id } = yield* Imports.file({ fileId, projectId, title, fields: fieldsOf(wanted) })
    yield* note("done", yield* Remembered.now, id)
    return id
  })
