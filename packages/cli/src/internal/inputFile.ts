import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { InvalidInput } from "../InvalidInput.js"

/**
 * The text of a file that an option or a variable names, by which a failure is told.
 *
 * @internal
 */
export const readFile = (input: string, path: string): Effect.Effect<string, InvalidInput, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString(path)).pipe(
    Effect.mapError((error) =>
      new InvalidInput({
        input,
        problem: `${path} cannot be read (${error._tag === "SystemError" ? error.reason : error._tag})`
      })
    )
  )
