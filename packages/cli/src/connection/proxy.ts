/** The proxy from the environment. */
import { isThisMachine } from "@stevedore/core/ServiceConfig"
import type { HttpProxy } from "@stevedore/node/HttpProxy"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { fromConfigError, invalid, type InvalidInput } from "../options/invalidInput.js"

// HTTP_PROXY is not among them: under CGI it contains a header from the caller
const variables: Readonly<Record<"http:" | "https:", ReadonlyArray<string>>> = {
  "http:": ["http_proxy", "all_proxy", "ALL_PROXY"],
  "https:": ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
}

interface Variable {
  readonly input: string
  readonly value: Redacted.Redacted<string>
}

/** The first that is set and not empty. */
const firstOf = (names: ReadonlyArray<string>): Effect.Effect<Option.Option<Variable>, ConfigError> =>
  Effect.map(
    Effect.forEach(names, (input) =>
      Effect.map(
        Config.option(Config.redacted(Config.nonEmptyString(input))),
        Option.map((value): Variable => ({ input, value }))
      )),
    Option.firstSomeOf
  )

const expected = "expected the URL of an http or https proxy, such as http://proxy.example:3128"

const encoded = "expected a percent-encoded user and password, such as %2F for a slash and %25 for a percent sign"

const decode = Option.liftThrowable(decodeURIComponent)

const authorizationOf = ({ password, username }: URL): Option.Option<Pick<HttpProxy, "authorization">> =>
  Option.zipWith(decode(username), decode(password), (user, word) =>
    user === "" && word === ""
      ? {}
      : { authorization: Redacted.make(`Basic ${Encoding.encodeBase64(`${user}:${word}`)}`) })

const parse = ({ input, value }: Variable, except: string): Effect.Effect<HttpProxy, InvalidInput> => {
  const refused = (problem: string) => invalid(input, problem)
  const text = Redacted.value(value).trim()
  const written = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`
  if (!URL.canParse(written)) return refused(expected)
  const url = new URL(written)
  if (url.protocol !== "http:" && url.protocol !== "https:") return refused(expected)
  // a bare slash in a password ends the host, and the start of the password would be taken for a port, and shown
  if (`${url.pathname}${url.search}${url.hash}`.includes("@")) return refused(encoded)
  return Option.match(authorizationOf(url), {
    onNone: () => refused(encoded),
    onSome: (authorization) => Effect.succeed({ origin: url.origin, except, ...authorization })
  })
}

/**
 * The proxy for a service at this base URL, found as curl does: for `https:`, the first of `https_proxy`,
 * `HTTPS_PROXY`, `all_proxy` and `ALL_PROXY` that is not empty; for `http:`, of `http_proxy`, `all_proxy` and
 * `ALL_PROXY`. None if no variable is set, if `no_proxy` or `NO_PROXY` is `*`, or if the service is on this machine.
 */
export const resolve = (baseUrl: string): Effect.Effect<Option.Option<HttpProxy>, InvalidInput> =>
  Effect.gen(function*() {
    const { hostname, protocol } = new URL(baseUrl)
    if (isThisMachine(hostname)) return Option.none()
    const found = yield* firstOf(variables[protocol === "http:" ? "http:" : "https:"])
    if (Option.isNone(found)) return Option.none()
    const without = yield* firstOf(["no_proxy", "NO_PROXY"])
    const except = Option.match(without, { onNone: () => "", onSome: ({ value }) => Redacted.value(value).trim() })
    return except === "*" ? Option.none() : Option.some(yield* parse(found.value, except))
  }).pipe(Effect.catchIf((error) => error._tag === "ConfigError", (error) => Effect.fail(fromConfigError(error))))
