import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as PresignedUrl from "../PresignedUrl.js"
import type { ServiceAnswer } from "../ServiceAnswer.js"
import { errorOf, invalid } from "../ServiceAnswer.js"
import type * as ServiceConfig from "../ServiceConfig.js"
import * as Endpoints from "../ServiceEndpoints.js"
import type { ServiceError } from "../ServiceError.js"
import { longestLink } from "./serviceCall.js"

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status)

const locationOf = (
  { baseUrl }: ServiceConfig.Service,
  answer: ServiceAnswer
): Either.Either<PresignedUrl.PresignedUrl, ServiceError> =>
  Option.fromNullable(answer.headers["location"]).pipe(
    Option.flatMap((location) =>
      PresignedUrl.fromString(
        /^https?:/i.test(location)
          ? location
          : URL.canParse(location, baseUrl)
          ? new URL(location, baseUrl).href
          : ""
      )
    ),
    Either.fromOption(() => invalid(answer, "Location", "no http or https URL in the header"))
  )

/**
 * Where a file is, by an answer that has no content: a redirect, or the JSON of `link` mode.
 *
 * @internal
 */
export const linkOf = (
  config: ServiceConfig.Service,
  answer: ServiceAnswer
): Either.Either<PresignedUrl.PresignedUrl, ServiceError> => {
  if (isRedirect(answer.status)) return locationOf(config, answer)
  if (answer.status !== 200) return Either.left(errorOf(answer))
  if (answer.body.length > longestLink) {
    const problem =
      "too much for a link: a service that sends the file itself needs a profile with download \"content\""
    return Either.left(invalid(answer, "", problem))
  }
  return Endpoints.downloadLink(config.profile, answer)
}
