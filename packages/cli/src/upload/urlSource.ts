/** URLs as sources of uploads, with the headers of a file. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import type { UploadSource } from "@stevedore/core/UploadSource"
import * as HttpSource from "@stevedore/node/HttpSource"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"

/** Whether a row names a URL instead of a path. */
export const isUrl = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text)

/** What is wrong with a text that begins like a URL and is none that can be read; none for everything else. */
export const problemOf = (text: string): Option.Option<string> => {
  const [, scheme] = /^([a-z][a-z\d+.-]+):\/\//i.exec(text) ?? []
  if (scheme === undefined || isUrl(text)) return Option.none()
  return Option.some(
    /^https?$/i.test(scheme)
      ? "is no URL that can be read: check how its host and port are written"
      : `begins with ${scheme}://, which cannot be read: give a path, or a pre-signed https URL in a row of --files-from`
  )
}

const client = HttpClient.HttpClient.pipe(
  Effect.map((client) => HttpClient.withTracerDisabledWhen(client, () => true)),
  Effect.map((client) =>
    HttpClient.transformResponse(
      client,
      Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" })
    )
  ),
  Effect.provide(FetchHttpClient.layer)
)

/** A URL as a source, read by the platform's `fetch`. */
export const make = (
  file: HttpSource.WebFile,
  described: HttpSource.Options
): Effect.Effect<UploadSource, HttpSource.UrlRefused> =>
  Effect.provideServiceEffect(HttpSource.make(file, described), HttpClient.HttpClient, client)

/**
 * The headers of `--source-headers`: a line `Name: value` for each. None if a line is something else; nothing of it may
 * be shown.
 */
export const headersOf = (text: string): Option.Option<HttpSource.WebFile["headers"]> => {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("#"))
  const pairs = Arr.filterMap(lines, (line) =>
    Option.map(
      Option.fromNullable(/^([\w!#$%&'*+.^`|~-]+):[ \t]*([\t\x20-\x7e]*)$/.exec(line)),
      ([, name = "", value = ""]) => [name.toLowerCase(), value.trim()] as const
    ))
  return pairs.length === lines.length ? Option.some(Redacted.make(Record.fromEntries(pairs))) : Option.none()
}
