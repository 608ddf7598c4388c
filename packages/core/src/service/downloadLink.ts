import * as Either from "effect/Either"
import * as PresignedUrl from "../PresignedUrl.js"
import type { ServiceError } from "../ServiceError.js"
import type { ServiceProfile } from "../ServiceProfile.js"
import { isRedirect } from "../storage/redirects.js"
import type { ServiceAnswer } from "./answer.js"
import { encrypted, errorOf, invalid } from "./answer.js"
import { longestLink } from "./call.js"
import * as Endpoints from "./endpoints.js"

const locationOf = (
  requestUrl: string,
  answer: ServiceAnswer
): Either.Either<PresignedUrl.PresignedUrl, ServiceError> =>
  PresignedUrl.located(answer.headers["location"] ?? "", requestUrl).pipe(
    Either.fromOption(() => invalid(answer, "Location", "not an http or https URL in the header")),
    Either.flatMap(encrypted(answer, "Location"))
  )

/** Where a file is, from a response without content: a redirect, or the JSON of `link` mode. */
export const linkOf = (
  profile: ServiceProfile,
  requestUrl: string,
  answer: ServiceAnswer
): Either.Either<PresignedUrl.PresignedUrl, ServiceError> => {
  if (isRedirect(answer.status)) return locationOf(requestUrl, answer)
  if (answer.status !== 200) return Either.left(errorOf(answer))
  if (answer.body.length > longestLink) {
    const problem =
      "too large for a link: a service that sends the file itself needs a profile with download \"content\""
    return Either.left(invalid(answer, "", problem))
  }
  return Endpoints.downloadLink(profile, answer)
}
