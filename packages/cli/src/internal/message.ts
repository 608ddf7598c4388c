import * as Predicate from "effect/Predicate"

/** By the `_tag` of an error: how its message names what a program would write, and the command's equivalent. */
const options: ReadonlyMap<string, readonly [words: string, ours: string]> = new Map([
  ["CursorRejected", [
    "with onCursorRejected: \"restart\" the walk does so itself and skips what it already returned, if its " +
    "checkpoints were taken with it.",
    "remove the file that --resume names, if you gave one."
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
  ["PaginationBroken", [", or allow more with emptyPages", ""]],
  ["SizeExceeded", ["strategy: \"multipart\"", "--strategy multipart"]],
  ["SourceUnreadable", [", or upload it as a stream", ""]],
  ["TargetExists", ["allow overwriting with overwrite: true", "give --overwrite"]],
  ["TimedOut", [
    "On a slow connection, allow more time with Timeouts, or lower the concurrency.",
    "Run it again; on a slow connection, a lower --concurrency helps an upload."
  ]],
  ["UploadLocked", ["resume: false", "--no-resume"]]
])

const untrusted = [
  "Check the network and the address, then try again.",
  "The certificate there is not trusted: sign in to the network, correct this machine's clock, or set " +
  "NODE_EXTRA_CA_CERTS to a file with your network's CA certificate."
] as const

// Node's codes for a certificate, and those of OpenSSL that it passes on
const isUntrusted = (error: unknown): boolean =>
  Predicate.hasProperty(error, "code") && /CERT|LEAF_SIGNATURE/.test(String(error.code))

const replacementOf = (error: { readonly _tag: unknown }) =>
  error._tag === "ConnectionFailed" && isUntrusted(error) ? untrusted : options.get(String(error._tag))

/**
 * The message of an error, with the command's options in place of the library's where there are any.
 *
 * @internal
 */
export const messageOf = (error: unknown): string => {
  const message = Predicate.hasProperty(error, "message") ? String(error.message) : String(error)
  const replaced = Predicate.hasProperty(error, "_tag") ? replacementOf(error) : undefined
  return replaced === undefined ? message : message.replace(replaced[0], () => replaced[1])
}
