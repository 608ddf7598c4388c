import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** Whether an answer of this status leads to another URL. */
export const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status)

/**
 * The client with redirects left to whoever reads the answer, where it is that of `fetch`, which follows them by itself:
 * to where nobody has checked. What else the application says of `fetch` stays.
 */
export const withoutRedirects = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.transformResponse(
    client,
    (sending) =>
      Effect.flatMap(Effect.serviceOption(FetchHttpClient.RequestInit), (given) =>
        Effect.provideService(sending, FetchHttpClient.RequestInit, {
          ...Option.getOrUndefined(given),
          redirect: "manual"
        }))
  )
