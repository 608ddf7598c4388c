import * as Predicate from "effect/Predicate"

/**
 * What an error says, by the options of the command where the library's own says it by the library's.
 *
 * @internal
 */
export const messageOf = (error: unknown): string => {
  if (Predicate.isTagged(error, "UploadLocked") && Predicate.hasProperty(error, "name")) {
    return `${JSON.stringify(error.name)} is being uploaded to this service already. Wait for it, or upload it ` +
      "independently with --no-resume."
  }
  return Predicate.hasProperty(error, "message") ? String(error.message) : String(error)
}
