import * as Predicate from "effect/Predicate"

/** By the `_tag` of an error: how its message names what a program would write, and the command's equivalent. */
const options: ReadonlyMap<string, readonly [words: string, ours: string]> = new Map([
  ["CursorRejected", [
    "Walk again from the start.",
    "Walk again from the start; remove the file that --resume names, if you gave one."
  ]],
  ["DeadlineUnreachable", ["onImpossible: \"continue\"", "--on-impossible continue"]],
  ["DownloadIncomplete", [
    "download it again.",
    "download it again. If the service's record has a wrong size, --any-size ignores it."
  ]],
  ["InvalidInput", ["allowInsecureHttp allows", "--allow-insecure-http allows"]],
  ["InvalidResponse", ["allowInsecureHttp allows", "--allow-insecure-http allows"]],
  ["InvalidSource", ["The mediaType of", "The --media-type of"]],
  ["ItemInvalid", [
    "onInvalid: \"skip\", inspect each with results, or use your own Schema with Lists.make.",
    "--skip-invalid."
  ]],
  ["SizeExceeded", ["strategy: \"multipart\"", "--strategy multipart"]],
  ["SourceUnreadable", [", or upload it as a stream", ""]],
  ["TargetExists", ["allow overwriting with overwrite: true", "give --overwrite"]],
  ["TimedOut", [
    "On a slow connection, allow more time with Timeouts, or lower the concurrency.",
    "Run it again; on a slow connection, a lower --concurrency helps an upload."
  ]],
  ["UploadLocked", ["resume: false", "--no-resume"]]
])

/** The message of an error, with the command's options in place of the library's where there are any. */
export const messageOf = (error: unknown): string => {
  const message = Predicate.hasProperty(error, "message") ? String(error.message) : String(error)
  const replaced = Predicate.hasProperty(error, "_tag") ? options.get(String(error._tag)) : undefined
  return replaced === undefined ? message : message.replace(replaced[0], () => replaced[1])
}
