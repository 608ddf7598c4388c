/** The lowest port: one request whose body is in memory, and its answer as a whole, within a deadline. */
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import type { HttpClientRequest } from "@effect/platform/HttpClientRequest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { untilTimer } from "../base/fibers.js"
import { answerStart } from "./answerBytes.js"

/** What a response says before its body, with names of headers in lower case. */
export interface Head {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

/** A response as a whole. */
export interface Answered extends Head {
  /** As it was sent, with its content codings. It ends early once it is longer than {@link SendLimits.longest}. */
  readonly body: Uint8Array
}

/** A request has no answer, or only a part of one. */
export interface Unanswered {
  readonly _tag: "Unanswered"
  /** The time was up before the answer was complete. */
  readonly late: boolean
  /** May hold the request, and with it the token: only its code, and what it says of `arrived`, may be used. */
  readonly cause: unknown
  /** The head of the answer, if it had arrived. */
  readonly head: Head | undefined
}

/** How long a request may take, and how long its answer may be. */
export interface SendLimits {
  /** For all of it, to the last byte of the answer. */
  readonly deadline: Duration.Duration
  /** For a new connection, where a transport makes its own. */
  readonly connect: Duration.Duration
  /** In bytes. */
  readonly longest: number
}

/**
 * Sends a request, exactly as it is, and reads its answer. It follows no redirects. Interruption, and the end of the time,
 * close the connection.
 */
export type Send = (request: HttpClientRequest, limits: SendLimits) => Effect.Effect<Answered, Unanswered>

const headOf = (error: HttpClientError.HttpClientError): Head | undefined =>
  error._tag === "ResponseError" ? error.response : undefined

/** The port over any HTTP client. */
export const sendOver = (client: HttpClient.HttpClient): Send => {
  const scoped = HttpClient.withScope(client)
  return (request, { deadline, longest }) =>
    Effect.suspend(() => {
      let head: Head | undefined
      const broken = (error: HttpClientError.HttpClientError): Unanswered => ({
        _tag: "Unanswered",
        late: false,
        cause: error,
        head: headOf(error) ?? head
      })
      return untilTimer(
        Effect.scoped(
          Effect.flatMap(Effect.mapError(scoped.execute(request), broken), (response) => {
            const { headers, status } = response
            head = response
            return Effect.map(answerStart(response, longest, broken), (body): Answered => ({ status, headers, body }))
          })
        ),
        deadline,
        Effect.suspend(() => Effect.fail<Unanswered>({ _tag: "Unanswered", late: true, cause: undefined, head }))
      )
    })
}
