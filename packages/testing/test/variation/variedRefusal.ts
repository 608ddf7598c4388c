import * as Predicate from "effect/Predicate"
import type { ServiceVariation } from "./ServiceVariation.js"
import { write } from "./variedJson.js"

interface Refused {
  readonly title: string
  readonly message: string
  /** The field of the request that is wrong. */
  readonly path: string
}

const textAt = (value: unknown, name: string): string =>
  Predicate.hasProperty(value, name) && Predicate.isString(value[name]) ? value[name] : ""

/** What the sandbox says of a refusal. @internal */
export const refusedOf = (json: unknown, rename: (field: string) => string): Refused => {
  const errors = Predicate.hasProperty(json, "errors") && Array.isArray(json.errors) ? json.errors : []
  const first: unknown = errors[0]
  return { title: textAt(first, "title"), message: textAt(first, "message"), path: rename(textAt(first, "path")) }
}

/** The body of a refusal, and its media type if it is no JSON. @internal */
export const bodyOf = (
  { answers }: ServiceVariation,
  status: number,
  { message, path, title }: Refused
): { readonly text: string; readonly mediaType?: string | undefined } => {
  const said = message === "" ? title : message
  switch (answers.refusals) {
    case "errors":
      return { text: write({ errors: [{ code: `E${status}`, title, message: said, path }] }) }
    case "HTML":
      return { text: `<html><body><h1>${status}</h1><p>${title}</p></body></html>`, mediaType: "text/html" }
    case "text":
      return { text: `${title}: ${path} ${said}`, mediaType: "text/plain" }
    case "nothing":
      return { text: "" }
    case "problem":
      return { text: write({ type: "about:blank", title, status, detail: said, instance: path }) }
    case "error":
      return { text: write({ error: { message: said, field: path }, data: null }) }
    case "array":
      return { text: write([said, { path }, null, 1]) }
    case "named field":
      return { text: write({ message: `${path} is not valid`, fields: { [path]: [said] } }) }
  }
}
