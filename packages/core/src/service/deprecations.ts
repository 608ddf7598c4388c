import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import { printable } from "../base/text.js"
import { withoutSecrets } from "../storage/withoutSecrets.js"

/** A call that the service plans to remove. */
export interface Deprecation {
  /** Method and path, with `{id}` in place of ids. */
  readonly endpoint: string
  /** The `Deprecation` header as received, but without secrets: a date, or `true`. */
  readonly deprecation: string
  /** The `Link` header as received, but without secrets: where to read about it, or what to use instead. */
  readonly link: string | undefined
}

// A segment with a digit is an id, except for the API version. So is one as long as the service's ids, because one in
// fifty of those has no digit.
const id = /\/(?!v\d+\/)([^/]*\d[^/]*|\w{22}\b)/g

const endpointOf = (method: string, path: string): string =>
  `${method} ${path.replace(/[?#].*$/, "").replace(id, "/{id}")}`

/** Records each deprecated endpoint, and logs it once. */
export const makeDeprecations = (token: Redacted.Redacted<string> | undefined) => {
  const noted = new Map<string, Deprecation>()
  return {
    all: Effect.sync((): ReadonlyArray<Deprecation> => Array.from(noted.values())),
    note: (answer: {
      readonly method: string
      /** Under the base URL. */
      readonly path: string
      readonly headers: Readonly<Record<string, string | undefined>>
    }): Effect.Effect<void> =>
      Effect.suspend(() => {
        const { headers, method, path } = answer
        const endpoint = endpointOf(method, path)
        if (headers["deprecation"] === undefined || noted.has(endpoint)) return Effect.void
        const deprecation = withoutSecrets(headers["deprecation"], { token })
        const link = headers["link"] && withoutSecrets(headers["link"], { token })
        noted.set(endpoint, { endpoint, deprecation, link })
        return Effect.logWarning(
          printable(
            `The service has deprecated ${endpoint} (${deprecation})${link === undefined ? "" : `: see ${link}`}`,
            2000
          )
        )
      })
  }
}
