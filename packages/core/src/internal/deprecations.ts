import * as Effect from "effect/Effect"

/** A call that the service says it will take away. */
export interface Deprecation {
  /** Method and path, `{id}` in the place of ids. */
  readonly endpoint: string
  /** The `Deprecation` header as it came: a date, or `true`. */
  readonly deprecation: string
  /** The `Link` header as it came: where to read about it, or what to use instead. */
  readonly link: string | undefined
}

// What has a digit is an id, but for the version of the interface; so is what is as long as the service's, for one of fifty
// of those has none.
const id = /\/(?!v\d+\/)([^/]*\d[^/]*|\w{22}\b)/g

const endpointOf = (method: string, path: string): string =>
  `${method} ${path.replace(/[?#].*$/, "").replace(id, "/{id}")}`

/** Notes each deprecated endpoint, and logs it once. */
export const makeDeprecations = () => {
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
        const { deprecation, link } = answer.headers
        const endpoint = endpointOf(answer.method, answer.path)
        if (deprecation === undefined || noted.has(endpoint)) return Effect.void
        noted.set(endpoint, { endpoint, deprecation, link })
        return Effect.logWarning(
          `The service has deprecated ${endpoint} (${deprecation})${link === undefined ? "" : `: see ${link}`}`
        )
      })
  }
}
