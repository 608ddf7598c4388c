/**
 * Words that a shell may have put into the command line in place of a pattern such as `*.mp4`. A file whose name is an
 * option would then be obeyed, and could send the token elsewhere.
 */
import * as Effect from "effect/Effect"
import { lstat } from "node:fs/promises"
import { join } from "node:path"
import { invalid, type InvalidInput } from "../options/invalidInput.js"

const isNameIn = (directory: string) => (word: string): Effect.Effect<boolean> =>
  Effect.isSuccess(Effect.tryPromise(() => lstat(join(directory, word))))

// What a shell passes on of a name that is not UTF-8 is not the name: no file is found by it.
const isUnreadable = (word: string): boolean => word.includes("\ufffd")

// Of two, the first was written by the user, whatever the second is.
const suspects = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [dashes, ...more] = words.flatMap((word, index) => word === "--" ? [index] : [])
  const options = words.slice(0, dashes).filter((word) => word.startsWith("-"))
  return dashes !== undefined && more.length === 0 ? [...options, "--"] : options
}

/** Refuses a word for an option that is also the name of something in the current directory. */
export const check = (words: ReadonlyArray<string>, directory = "."): Effect.Effect<void, InvalidInput> => {
  const isName = isNameIn(directory)
  return Effect.findFirst(suspects(words), (word) => isUnreadable(word) ? Effect.succeed(true) : isName(word)).pipe(
    Effect.flatMap(Effect.transposeMapOption((word) =>
      invalid(
        word,
        isUnreadable(word)
          ? "begins with a dash and is not UTF-8, as the name of a file may be: give names as ./NAME, and patterns " +
            "as ./*.mp4"
          : `is an option, but also the name of something in this directory. Give the name as ./${word}, and ` +
            "patterns as ./*.mp4; if you mean the option, run the command in another directory"
      )
    )),
    Effect.asVoid
  )
}
