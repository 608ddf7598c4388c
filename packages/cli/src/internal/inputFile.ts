import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { InvalidInput } from "../InvalidInput.js"

/**
 * The text of a file that an option or a variable names; a failure names that option or variable.
 *
 * @internal
 */
export const readFile = (input: string, path: string): Effect.Effect<string, InvalidInput, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString(path)).pipe(
    Effect.mapError((error) =>
      new InvalidInput({
        input,
        problem: `cannot read ${path} (${error._tag === "SystemError" ? error.reason : error._tag})`
      })
    )
  )

const isOpen = ({ mode, type, uid }: FileSystem.File.Info): boolean =>
  type === "File" && (mode & 0o066) !== 0 && Option.contains(uid, process.getuid?.())

/**
 * Warns about a token file of this user that other users may read or change, as ssh does for keys. It does not warn
 * about a file that another user gave to this one, as containers get their secrets, nor on platforms without such
 * users.
 *
 * @internal
 */
export const warnOfOthers = (path: string): Effect.Effect<void, never, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.stat(path)).pipe(
    Effect.flatMap((info) =>
      Effect.when(
        Effect.logWarning(
          `Other users can read or change ${path}, which contains the token (mode 0${
            (info.mode & 0o777).toString(8)
          }): protect it with chmod 600`
        ),
        () => isOpen(info)
      )
    ),
    // readable, but without metadata, such as a pipe of the shell
    Effect.ignore
  )
