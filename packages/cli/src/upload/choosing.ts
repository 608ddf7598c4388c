/** Which of the files that were named or found are uploaded. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { basename, isAbsolute, relative, sep } from "node:path"
import type { Expanded, FileToUpload, SkippedEntry } from "../files/paths.js"

/** What was asked for. Sizes are in bytes, and times in milliseconds since 1970. */
export interface Choice {
  /** Patterns as in a gitignore file. If there are any, only files that match one are taken. */
  readonly include: ReadonlyArray<string>
  /** Patterns as in a gitignore file. Files that match are left out, even if they are included. */
  readonly exclude: ReadonlyArray<string>
  readonly newerThan: Option.Option<number>
  readonly olderThan: Option.Option<number>
  readonly largerThan: Option.Option<number>
  readonly smallerThan: Option.Option<number>
  /** Whether an empty file that was named itself is skipped too, instead of failing. */
  readonly skipEmpty: boolean
}

/** What is uploaded, and what is not. */
export interface Chosen extends Expanded {
  /** How many files were left out. */
  readonly left: number
}

// Patterns see a path with slashes: relative to the directory that was named, or else to the current one.
const patternPath = ({ name, path }: Pick<FileToUpload, "name" | "path">): string =>
  Option.getOrElse(name, () => {
    if (isAbsolute(path) && /^\w+:\/\//.test(path)) return basename(path)
    const below = relative(".", path)
    return below === "" || below.startsWith("..") || isAbsolute(below) ? basename(path) : below.split(sep).join("/")
  })

type Matches = (path: string) => boolean

// A bracket opens a class up to the next one that is not the first in it; a backslash takes the next character as it is
const isClosed = (pattern: string): boolean => {
  const rest = pattern.replace(/\\[^]/g, "").replace(/\[[!^]?[^][^\]]*\]/g, "")
  return !rest.includes("[") && !rest.endsWith("\\")
}

/** What is wrong with a pattern that could match nothing; none for one that can. */
export const problemOf = (pattern: string): Option.Option<string> =>
  pattern.trim() === ""
    ? Option.some("it is empty: is a variable not set?")
    : pattern.startsWith("#")
    ? Option.some("it begins with #, which is a comment in a gitignore file: write \\# for that character")
    : isClosed(pattern)
    ? Option.none()
    : Option.some(
      "a bracket in it is not closed, or its backslash is the last character: write \\[ or \\\\ for that character"
    )

// Most commands have no pattern, and need not load the library
const matching = (patterns: ReadonlyArray<string>): Effect.Effect<Option.Option<Matches>> =>
  patterns.length === 0 ? Effect.succeedNone : Effect.map(
    Effect.promise(() => import("ignore")),
    ({ default: ignore }) => {
      // as git does by default where file systems distinguish case
      const ignorecase = process.platform === "win32" || process.platform === "darwin"
      // names that came from a Mac have their accents as characters of their own
      const rules = ignore({ ignorecase }).add(patterns.map((pattern) => pattern.normalize("NFC")))
      return Option.some<Matches>((path) => rules.ignores(path.normalize("NFC")))
    }
  )

const isWithin = (
  value: Option.Option<number>,
  { above, below }: { readonly above: Option.Option<number>; readonly below: Option.Option<number> }
): boolean =>
  Option.isNone(value) ||
  (Option.match(above, { onNone: () => true, onSome: (least) => value.value > least }) &&
    Option.match(below, { onNone: () => true, onSome: (most) => value.value < most }))

/**
 * Chooses. A file that cannot be inspected is kept, so that it is reported as a failure, unless its name leaves it out.
 */
export const choose = (found: Expanded, choice: Choice): Effect.Effect<Chosen> =>
  Effect.gen(function*() {
    const included = yield* matching(choice.include)
    const excluded = yield* matching(choice.exclude)
    const isNamed = (entry: Pick<FileToUpload, "name" | "path">): boolean => {
      const path = patternPath(entry)
      return Option.match(included, { onNone: () => true, onSome: (matches) => matches(path) }) &&
        !Option.exists(excluded, (matches) => matches(path) || matches(`${path}/`))
    }
    const isWanted = (file: FileToUpload): boolean =>
      isNamed(file) &&
      isWithin(file.modified, { above: choice.newerThan, below: choice.olderThan }) &&
      isWithin(Option.as(file.modified, file.size), { above: choice.largerThan, below: choice.smallerThan })
    const wanted = found.files.filter(isWanted)
    const isEmpty = (file: FileToUpload): boolean => choice.skipEmpty && file.size === 0 && Option.isSome(file.modified)
    const empty = wanted.filter(isEmpty).map(({ name, path }): SkippedEntry => ({ path, name, reason: "empty" }))
    const skipped = found.skipped.filter(isNamed)
    return {
      files: wanted.filter((file) => !isEmpty(file)),
      repeated: found.repeated.filter(isWanted),
      skipped: [...skipped, ...empty],
      left: found.files.length - wanted.length + found.skipped.length - skipped.length
    }
  })
