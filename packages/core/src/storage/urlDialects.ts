/** The parameters of a URL, with names in lower case. @internal */
export type Query = ReadonlyMap<string, string>

/** When a URL is valid, by the clock of what signed it, as far as it says so. A date may be invalid. @internal */
export interface Validity {
  readonly start?: Date | undefined
  readonly end?: Date | undefined
}

const seconds = (text: string | undefined): Date | undefined =>
  text !== undefined && /^\d{1,13}$/.test(text)
    // some count milliseconds: in seconds, they would be in the year 33658
    ? new Date(text.length > 11 ? Number(text) : Number(text) * 1000)
    : undefined

const basicDate = (text: string | undefined): Date | undefined =>
  text !== undefined && /^\d{8}T\d{6}Z$/.test(text)
    ? new Date(text.replace(/(....)(..)(..T..)(..)/, "$1-$2-$3:$4:"))
    : undefined

// Azure's times are in UTC, and may lack the time, the seconds, or have seven digits of a fraction
const isoDate = (text: string | undefined): Date | undefined =>
  text !== undefined && /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?Z)?$/.test(text)
    ? new Date(text.replace(/(\.\d{3})\d+/, "$1"))
    : undefined

const vendors = ["amz", "goog", "oss", "tos", "obs"] as const

const vendorParameter = (query: Query, name: string): string | undefined =>
  vendors.map((vendor) => query.get(`x-${vendor}-${name}`)).find((value) => value !== undefined)

const lifetime = (query: Query): Validity | undefined => {
  const start = basicDate(vendorParameter(query, "date"))
  const length = vendorParameter(query, "expires")
  if (start === undefined) return undefined
  return {
    start,
    end: length !== undefined && /^\d+$/.test(length) ? new Date(start.getTime() + Number(length) * 1000) : undefined
  }
}

const statementOf = (policy: string): string => {
  try {
    return atob(policy.replaceAll("-", "+").replaceAll("_", "=").replaceAll("~", "/"))
  } catch {
    return ""
  }
}

const cloudFrontPolicy = (query: Query): Validity | undefined => {
  const policy = query.get("policy")
  if (policy === undefined) return undefined
  const statement = statementOf(policy)
  const time = (condition: string) =>
    seconds(new RegExp(`"${condition}"\\s*:\\s*\\{\\s*"AWS:EpochTime"\\s*:\\s*(\\d+)`).exec(statement)?.[1])
  return { start: time("DateGreaterThan"), end: time("DateLessThan") }
}

const signTime = (query: Query): Validity | undefined => {
  const [, start, end] = /^(\d+);(\d+)$/.exec(query.get("q-sign-time") ?? "") ?? []
  return end === undefined ? undefined : { start: seconds(start), end: seconds(end) }
}

// Each dialect as its storage documents it; the first that says when a URL ends is the one
const dialects: ReadonlyArray<(query: Query) => Validity | undefined> = [
  lifetime,
  (query) => query.has("se") ? { start: isoDate(query.get("st")), end: isoDate(query.get("se")) } : undefined,
  cloudFrontPolicy,
  signTime,
  (query) => ({ end: seconds(query.get("expires")) ?? isoDate(query.get("expires")) })
]

export const validityOf = (query: Query): Validity => {
  const known = dialects.map((dialect) => dialect(query))
  return known.find((validity) => validity?.end !== undefined) ?? known.find((validity) => validity !== undefined) ?? {}
}

/** The headers that must be sent as they were signed, in lower case, without `host`. @internal */
export const signedHeadersOf = (query: Query): ReadonlyArray<string> =>
  (vendorParameter(query, "signedheaders") ?? vendorParameter(query, "additional-headers") ??
    query.get("q-header-list") ?? "").toLowerCase().split(";").filter((name) => name !== "" && name !== "host")
