import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { constants } from "node:fs"
import { open } from "node:fs/promises"
import * as PlatformWords from "../print/platformWords.js"
import { invalid, type InvalidInput } from "./invalidInput.js"

interface Encoding {
  readonly name: string
  /** What its files begin with, if an editor marks them. */
  readonly mark: ReadonlyArray<number>
  /** In a file without a mark, where the zeros of the first two characters are, if these are ASCII. */
  readonly zeros: ReadonlyArray<boolean>
  readonly decode?: (bytes: Uint8Array) => string
}

const decoder = (label: string) => (bytes: Uint8Array): string => new TextDecoder(label, { fatal: true }).decode(bytes)

const [littleEndian, bigEndian] = [decoder("utf-16le"), decoder("utf-16be")]

// In this order: the mark of UTF-32LE begins with that of UTF-16LE. The decoders take their marks off.
const encodings: ReadonlyArray<Encoding> = [
  { name: "UTF-32", mark: [0xff, 0xfe, 0, 0], zeros: [false, true, true, true] },
  { name: "UTF-32", mark: [0, 0, 0xfe, 0xff], zeros: [true, true, true, false] },
  { name: "UTF-16", mark: [0xff, 0xfe], zeros: [false, true, false, true], decode: littleEndian },
  { name: "UTF-16", mark: [0xfe, 0xff], zeros: [true, false, true, false], decode: bigEndian }
]

const utf8: Encoding = { name: "UTF-8", mark: [], zeros: [], decode: decoder("utf-8") }

const begins = (bytes: Uint8Array) => ({ mark, zeros }: Encoding): boolean =>
  mark.every((byte, index) => bytes[index] === byte) ||
  (bytes.length > 3 && zeros.every((zero, index) => (bytes[index] === 0) === zero))

/**
 * The text of a file that an editor saved in UTF-8 or in UTF-16, with a byte order mark or without. What is wrong with
 * any other never quotes it.
 */
export const textOf = (bytes: Uint8Array): Either.Either<string, string> => {
  const { decode, name } = encodings.find(begins(bytes)) ?? utf8
  return decode === undefined
    ? Either.left(`is in ${name}: save it as UTF-8`)
    : Either.try({ try: () => decode(bytes), catch: () => `is not text in ${name}: save it as UTF-8` })
}

const POLL_MILLIS = 20

const LONGEST_MILLIS = 5000

/**
 * What a pipe has. Its writer may not be there yet: to wait for it in `open` would keep the process from ending. One that is there
 * may take its time.
 */
const readPipe = (path: string): Effect.Effect<Uint8Array, string> =>
  Effect.gen(function*() {
    const file = yield* Effect.acquireRelease(
      Effect.tryPromise(() => open(path, constants.O_RDONLY | constants.O_NONBLOCK)),
      (file) => Effect.promise(() => file.close())
    )
    const chunks: Array<Uint8Array> = []
    for (let alone = 0; alone < LONGEST_MILLIS;) {
      const found = yield* Effect.tryPromise(() => file.read()).pipe(
        Effect.map(({ buffer, bytesRead }) => Uint8Array.from(buffer.subarray(0, bytesRead))),
        Effect.catchIf(
          ({ error }) => Predicate.hasProperty(error, "code") && error.code === "EAGAIN",
          () => Effect.succeed(undefined)
        )
      )
      if (found?.length === 0 && chunks.length > 0) return Buffer.concat(chunks)
      if (found !== undefined && found.length > 0) chunks.push(found)
      else {
        alone += found === undefined ? 0 : POLL_MILLIS
        yield* Effect.sleep(POLL_MILLIS)
      }
    }
    return yield* Effect.fail(`${path} is a pipe, and nobody writes to it`)
  }).pipe(
    Effect.scoped,
    Effect.mapError((error) => typeof error === "string" ? error : `cannot read ${path}`)
  )

const readAny = (path: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const type = yield* Effect.option(fs.stat(path))
    if (Option.exists(type, ({ type }) => type === "FIFO")) return yield* readPipe(path)
    if (Option.exists(type, ({ type }) => type.endsWith("Device"))) return yield* Effect.fail(`${path} is a device`)
    return yield* Effect.mapError(fs.readFile(path), PlatformWords.describe("read", path))
  })

/** The text of a file that an option or a variable names; a failure names that option or variable. */
export const readFile = (input: string, path: string): Effect.Effect<string, InvalidInput, FileSystem.FileSystem> =>
  readAny(path).pipe(
    Effect.flatMap((bytes) => Either.mapLeft(textOf(bytes), (problem) => `${path} ${problem}`)),
    Effect.mapError((problem) => invalid(input, problem))
  )

const isOpen = ({ mode, type, uid }: FileSystem.File.Info): boolean =>
  type === "File" && (mode & 0o066) !== 0 && Option.contains(uid, process.getuid?.())

/**
 * Warns about a token file of this user that other users may read or change, as ssh does for keys. It does not warn
 * about a file that another user gave to this one, as containers get their secrets, nor on platforms without such
 * users.
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
