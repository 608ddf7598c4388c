import type { StorageAnswer } from "@stevedore/core/StorageAnswer"
import { longestDocument } from "@stevedore/core/StorageAttempt"
import * as Effect from "effect/Effect"

/** A response and the URL it came from, which differs from the requested one if a redirect was followed. */
export interface Answered extends StorageAnswer {
  readonly url: string
}

export interface Put {
  readonly href: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Blob
  readonly onSent: (bytes: number) => void
}

/** No response: status 0, for which a browser gives no reason. */
export type Unanswered = "unanswered"

const headersOf = (xhr: XMLHttpRequest): Readonly<Record<string, string>> =>
  Object.fromEntries(
    xhr.getAllResponseHeaders().split("\r\n").filter((line) => line.includes(":")).map((line) => {
      const colon = line.indexOf(":")
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    })
  )

const answerOf = (xhr: XMLHttpRequest): Answered => ({
  status: xhr.status,
  headers: headersOf(xhr),
  body: xhr.responseText.slice(0, longestDocument),
  url: xhr.responseURL
})

/**
 * Puts a Blob once. After an interruption, the request is aborted before this returns, and none of its events reaches
 * anyone.
 */
export const put = ({ body, headers, href, onSent }: Put): Effect.Effect<Answered, Unanswered> =>
  Effect.async((resume) => {
    const xhr = new XMLHttpRequest()
    let sent = 0
    let ended = false
    const sentUpTo = (bytes: number) => {
      if (ended || bytes <= sent) return
      onSent(bytes - sent)
      sent = bytes
    }
    const end = (outcome: Effect.Effect<Answered, Unanswered>) => {
      if (ended) return
      ended = true
      resume(outcome)
    }
    xhr.upload.onprogress = (event) => sentUpTo(event.loaded)
    xhr.upload.onload = () => sentUpTo(body.size)
    xhr.onload = () => end(Effect.succeed(answerOf(xhr)))
    xhr.onloadend = () => end(Effect.fail("unanswered"))
    xhr.open("PUT", href)
    for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value)
    xhr.send(body)
    return Effect.sync(() => {
      ended = true
      xhr.abort()
    })
  })
