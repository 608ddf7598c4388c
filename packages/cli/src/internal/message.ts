import * as Predicate from "effect/Predicate"

/** By the `_tag` of an error: how its message names what a program would write, and the command's equivalent. */
const options: ReadonlyMap<string, readonly [words: string, ours: string]> = new Map([
  ["CursorRejected", [
    "with onCursorRejected: \"restart\" the walk does so itself and skips what it already returned, if its " +
    "checkpoints were taken with the same option.",
    "remove the file that --resume names, if you gave one."
  ]],
  ["DeadlineUnreachable", ["onImpossible: \"continue\"", "--on-impossible continue"]],
  ["DownloadIncomplete", [
    "download it again.",
    "download it again. Where it is the service's record that has a wrong size, --any-size goes without it."
  ]],
  ["InvalidInput", ["allowInsecureHttp takes", "--allow-insecure-http takes"]],
  ["InvalidResponse", ["allowInsecureHttp takes", "--allow-insecure-http takes"]],
  ["InvalidSource", ["The mediaType of", "The --media-type of"]],
  ["ItemInvalid", [
    "onInvalid: \"skip\", look at each with results, or list with a Schema of your own by Lists.make.",
    "--skip-invalid."
  ]],
  ["PaginationBroken", [", or allow more with emptyPages", ""]],
  ["SizeExceeded", ["strategy: \"multipart\"", "--strategy multipart"]],
  ["TargetExists", ["ask for overwriting", "give --overwrite"]],
  ["TimedOut", [
    "On a slow line allow more time with Timeouts, or less concurrency.",
    "Run it again; on a slow line a smaller --concurrency helps an upload."
  ]],
  ["UploadLocked", ["resume: false", "--no-resume"]]
])

/**
 * The message of an error, with the command's options in place of the library's where there are any.
 *
 * @internal
 */
export const messageOf = (error: unknown): string => {
  const message = Predicate.hasProperty(error, "message") ? String(error.message) : String(error)
  const replaced = Predicate.hasProperty(error, "_tag") ? options.get(String(error._tag)) : undefined
  return replaced === undefined ? message : message.replace(replaced[0], () => replaced[1])
}
