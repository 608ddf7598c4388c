/** What a browser would object to in the response to its preflight; empty if it would proceed. */
export const preflightProblem = (
  answer: { readonly status: number; readonly headers: Readonly<Record<string, string | undefined>> },
  asked: { readonly origin: string; readonly method: string; readonly headers: ReadonlyArray<string> }
): string => {
  const { headers, status } = answer
  if (status < 200 || status > 299) return `the preflight request was answered with ${status}`
  const origin = headers["access-control-allow-origin"]
  if (origin !== "*" && origin !== asked.origin) {
    return origin === undefined ? "no origin is allowed" : `${origin} is allowed, ${asked.origin} is not`
  }
  const methods = list(headers["access-control-allow-methods"])
  if (!methods.includes("*") && !methods.includes(asked.method.toLowerCase())) return `${asked.method} is not allowed`
  const allowed = list(headers["access-control-allow-headers"])
  const missing = asked.headers.filter((name) => !allowed.includes("*") && !allowed.includes(name.toLowerCase()))
  return missing.length === 0 ? "" : `the headers ${missing.join(", ")} are not allowed`
}

/** Which of these headers a page from another origin cannot read. */
export const notExposed = (
  headers: Readonly<Record<string, string | undefined>>,
  names: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const exposed = list(headers["access-control-expose-headers"])
  return exposed.includes("*") ? [] : names.filter((name) => !exposed.includes(name.toLowerCase()))
}

const list = (header: string | undefined): ReadonlyArray<string> =>
  (header ?? "").split(",").map((name) => name.trim().toLowerCase()).filter((name) => name !== "")
