/** What the commands about uploads accept. */
import { checkDescription } from "@stevedore/core/UploadSource"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { argumentsOf, flag, option, optionalArgument, optionOr, options } from "../options/parameter.js"
import type { Accepted } from "../options/parameter.js"
import type { Own } from "../options/shared.js"
import { filesElsewhere, limitRate, listed, ofMachine, ofService, partsElsewhere, partSize } from "../options/shared.js"
import { checked, choice, name, path, pathName, size, text, time, wholeNumber } from "../options/values.js"
import * as Choosing from "./choosing.js"

const pattern = checked(
  "PATTERN",
  (text) => Option.map(Choosing.problemOf(text), (problem) => `${JSON.stringify(text)}: ${problem}`)
)

// It would be wrong for each file
const problemOf = (name: string, mediaType: string) =>
  Option.map(Either.getLeft(checkDescription(name, mediaType)), ({ expected }) => `expected ${expected}`)

/** What is wrong with a media type. */
export const problemOfType = (mediaType: string) =>
  Option.map(problemOf("any", mediaType), (problem) => `${problem}, not ${JSON.stringify(mediaType)}`)

/** The options that choose files. */
const choosing = {
  include: options({
    name: "include",
    takes: pattern,
    elsewhere: ["include-pattern"],
    help: "Upload only files that match, such as '*.mp4': as in a gitignore file. Can be repeated"
  }),
  exclude: options({
    name: "exclude",
    takes: pattern,
    elsewhere: ["exclude-pattern", "exclude-path"],
    help: "Leave out files that match, such as 'drafts/': as in a gitignore file. Can be repeated"
  }),
  newerThan: option({
    name: "newer-than",
    takes: time,
    elsewhere: ["max-age", "include-after"],
    help: "Only files changed since: 36h ago, 2d ago, or a date such as 2026-01-31"
  }),
  olderThan: option({
    name: "older-than",
    takes: time,
    elsewhere: ["min-age", "include-before"],
    help: "Only files not changed since then"
  }),
  largerThan: option({
    name: "larger-than",
    takes: size,
    elsewhere: ["min-size"],
    help: "Only files of more bytes than this, such as 20M"
  }),
  smallerThan: option({
    name: "smaller-than",
    takes: size,
    elsewhere: ["max-size"],
    help: "Only files of fewer bytes than this"
  }),
  followLinks: flag({
    name: "follow-links",
    elsewhere: ["copy-links", "follow-symlinks", "L"],
    help: "Upload what links in a directory lead to, instead of skipping them"
  }),
  skipEmpty: flag({
    name: "skip-empty",
    help: "Skip empty files that are named, too. Those in a directory are always skipped"
  })
}

export const uploading = {
  paths: argumentsOf({
    name: "PATH",
    takes: pathName,
    help: "A file, a directory to upload with everything in it, or - for standard input"
  }),
  strategy: optionOr({
    name: "strategy",
    takes: choice("auto", "single", "multipart"),
    default: "auto",
    help: "Send each file in one request, in parts, or as suits its size"
  }),
  parts: option({
    name: "parts",
    takes: wholeNumber(1, 10_000),
    help: "Number of parts. Default: suited to the connection, or chosen by the service"
  }),
  partSize,
  concurrency: option({
    name: "concurrency",
    takes: wholeNumber(1, 32),
    elsewhere: partsElsewhere,
    help: "Maximum parts of a file in flight. Default: adapted to the measured throughput"
  }),
  files: optionOr({
    name: "files",
    takes: wholeNumber(1, 64),
    default: 3,
    elsewhere: filesElsewhere,
    help: "Maximum number of files to upload at once"
  }),
  verify: optionOr({
    name: "verify",
    takes: choice("sample", "all", "download"),
    default: "sample",
    help: "Before resuming, compare a sample of the stored parts, or all; download: also read the file back at the end"
  }),
  onImpossible: optionOr({
    name: "on-impossible",
    takes: choice("fail", "continue"),
    default: "fail",
    help: "If the connection is too slow to finish before a file's URLs expire: fail, or try anyway"
  }),
  checksum: optionOr({
    name: "checksum",
    takes: choice("crc32", "sha256", "crc64nvme"),
    default: "crc32",
    elsewhere: ["checksum-algorithm"],
    help: "Checksum algorithm to verify each part with"
  }),
  mediaType: option({
    name: "media-type",
    takes: checked("TYPE", problemOfType),
    elsewhere: ["content-type"],
    help: "Media type, such as video/mp4. Default: by the file's extension"
  }),
  name: option({
    name: "name",
    takes: checked("NAME", (name) => problemOf(name, "any/any")),
    help: "Name of the file at the service. Default: its own"
  }),
  noResume: flag({ name: "no-resume", help: "Start over instead of resuming interrupted uploads" }),
  ...listed,
  sourceHeaders: option({
    name: "source-headers",
    takes: path("FILE"),
    help:
      "File with a line Name: value for each header to send to the server of rows that are URLs. They are never shown, " +
      "and never sent to another server"
  }),
  ...choosing,
  into: option({
    name: "into",
    takes: text("PROJECT_ID"),
    help:
      "Make each finished file an entry of this project, once. Its title and fields are the other columns of its row"
  }),
  dryRun: flag({
    name: "dry-run",
    elsewhere: ["n", "dryrun"],
    help: "Say what would be sent, how many calls that takes and how long, and send nothing"
  }),
  report: option({
    name: "report",
    takes: path("FILE"),
    elsewhere: ["combined"],
    help: "Write a row for each file, from the start: JSON lines, or a table if it is named .csv"
  }),
  retryFailed: option({
    name: "retry-failed",
    takes: path("FILE"),
    help: "Upload the files that failed or were not tried, by the --report of an earlier command"
  }),
  failFast: flag({ name: "fail-fast", help: "Stop at the first file that fails" }),
  maxErrors: option({
    name: "max-errors",
    takes: wholeNumber(1),
    help: "Stop once this many files have failed. Default: never"
  }),
  limitRate,
  again: flag({
    name: "again",
    elsewhere: ["ignore-times", "I"],
    help: "Upload also what is already uploaded and has not changed since"
  }),
  check: flag({
    name: "check",
    elsewhere: ["c"],
    help: "Find changed files by their content instead of their date, and ask the service for every file"
  }),
  ...ofService
}

export const unfinished = {
  forget: option({
    name: "forget",
    takes: text("ID"),
    help: "Forget this upload: its file then starts over"
  }),
  ...ofMachine
}

export const finished = {
  path: optionalArgument({ name: "PATH", takes: pathName, help: "A file, or a directory with everything in it" }),
  forget: option({
    name: "forget",
    takes: text("WHAT"),
    help: "Forget this file, or a directory with everything in it: it is uploaded again"
  }),
  ...ofMachine
}

export const limiting = {
  rate: optionalArgument({
    name: "RATE",
    takes: name,
    help: "A rate such as 20M, off, a timetable such as \"08:00,5M 18:00,off\", or show"
  }),
  ...ofMachine
}

/** What `stevedore upload` is given. */
export type Options = Accepted<typeof uploading>

/** What `stevedore uploads` is given. */
export type Unfinished = Own<typeof unfinished>

/** What `stevedore uploaded` is given. */
export type Finished = Own<typeof finished>

/** What `stevedore limit` is given. */
export type Limiting = Own<typeof limiting>
