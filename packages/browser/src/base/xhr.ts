import * as Transport from "@stevedore/core/parts/transport"
import * as Effect from "effect/Effect"

/** A response and the URL it came from, which differs from the requested one if a redirect was followed. */
export interface Answered extends Transport.StorageAnswer {
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
    Array.from(
      xhr.getAllResponseHeaders().matchAll(/^(.+?):(.*)/gm),
      ([, name = "", value = ""]) => [name.toLowerCase(), value.trim()]
    )
  )

const answerOf = (xhr: XMLHttpRequest): Answered => ({
  status: xhr.status,
  headers: headersOf(xhr),
  body: xhr.responseText.slice(0, Transport.longestDocument),
  url: xhr.responseURL
})

// Less than the shortest limit for a connection
const unseenMillis = 4000

/**
 * Puts a Blob once. After an interruption, the request is aborted before this returns, and none of its events reaches
 * anyone.
 */
export const put = ({ body, headers, href, onSent }: Put): Effect.Effect<Answered, Unanswered> =>
  Effect.async((resume) => {
    const xhr = new XMLHttpRequest()
    let sent = 0
    const sentUpTo = (bytes: number) => {
      if (bytes <= sent) return
      onSent(bytes - sent)
      sent = bytes
    }
    const end = (outcome: Effect.Effect<Answered, Unanswered>) => {
      // no later event reports more
      sent = Infinity
      resume(outcome)
    }
    xhr.upload.onprogress = (event) => sentUpTo(event.loaded)
    xhr.upload.onload = () => sentUpTo(body.size)
    xhr.onload = () => end(Effect.succeed(answerOf(xhr)))
    xhr.onloadend = () => end(Effect.fail("unanswered"))
    xhr.open("PUT", href)
    // Firefox parses a response without a type as XML and reports each empty one as an error
    xhr.responseType = "text"
    for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value)
    xhr.send(body)
    // A service worker that passes requests on hides what is sent: the body then counts as handed over to it
    setTimeout(() => {
      if (sent === 0 && navigator.serviceWorker?.controller) sentUpTo(body.size)
    }, unseenMillis)
    return Effect.sync(() => xhr.abort())
  })
