import * as Hash from "effect/Hash"
import type { ServiceVariation } from "./ServiceVariation.js"

/** The pre-signed URLs of a service in its own dialect. What they allow is what the sandbox's allow. @internal */
export interface Urls {
  /** A URL that the sandbox has signed, as the client gets it. */
  readonly outside: (signed: string) => string
  /**
   * What a request asks storage for, as the sandbox has signed it. Unknown targets stay as they are. Within the process,
   * the platform's client has written the query anew, which over a socket is noticed.
   */
  readonly inside: (target: string, isExact: boolean) => string
  /** A URL from which as many redirects lead to the target. */
  readonly redirected: (url: string, times: number) => string
  /** Where a redirect leads to. */
  readonly redirectOf: (target: string) => string | undefined
}

interface Signed {
  readonly origin: string
  readonly path: string
  readonly part: string | null
  readonly number: number
  /** In milliseconds. */
  readonly from: number
  readonly to: number
  readonly signature: string
}

const DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/

const read = (url: URL, number: number): Signed => {
  const from = Date.parse((url.searchParams.get("X-Amz-Date") ?? "").replace(DATE, "$1-$2-$3T$4:$5:$6Z"))
  const signature = url.searchParams.get("X-Amz-Signature") ?? ""
  return {
    origin: url.origin,
    path: url.pathname,
    part: url.searchParams.get("partNumber"),
    number,
    from,
    to: from + Number(url.searchParams.get("X-Amz-Expires")) * 1000,
    signature
  }
}

const seconds = (millis: number): number => Math.round(millis / 1000)

const instant = (millis: number): string => new Date(seconds(millis) * 1000).toISOString().replace(".000", "")

// Without what a URL says of its part, the URLs of an upload would be the same
const partOf = ({ part }: Signed, name: string): string => part === null ? "" : `&${name}=${part}`

const base64 = ({ signature }: Signed): string => `${signature.slice(0, 24)}+/${signature.slice(24, 26)}=`

const inDialect = (dialect: ServiceVariation["storage"]["urls"], signed: Signed): string => {
  const { from, number, origin, path, signature, to } = signed
  switch (dialect) {
    case "SigV4":
      return ""
    case "SigV2":
      return `${origin}${path}?AWSAccessKeyId=AKIDSANDBOX&Expires=${seconds(to)}&Signature=${
        encodeURIComponent(base64(signed))
      }${partOf(signed, "partNumber")}`
    case "CloudFront":
      return `${origin}${path}/${number}?Expires=${seconds(to)}&Signature=${signature}~-__&Key-Pair-Id=KSANDBOX`
    case "Azure":
      return `${origin}${path}?sv=2024-11-04&st=${encodeURIComponent(instant(from))}&se=${
        encodeURIComponent(instant(to))
      }&sr=b&sp=rcw&sig=${encodeURIComponent(base64(signed))}${partOf(signed, "blockid")}`
    case "token in the query":
      return `${origin}/put/${number}?token=${signature}&note=it's%20(signed)+~*!`
    case "token in the path":
      return `${origin}/put/${number}/it's%2Fa%20token+(${signature})~*!/ü`.replace("ü", "%C3%BC")
  }
}

const canonical = (target: string): string => {
  const url = new URL(target, "http://storage")
  return `${decodeURIComponent(url.pathname)}?${new URLSearchParams(url.search).toString()}`
}

const targetOf = (url: string): string => url.slice(new URL(url).origin.length)

export const make = ({ seed, storage }: ServiceVariation): Urls => {
  const inside = new Map<string, string>()
  const rewritten = new Map<string, string>()
  const redirects = new Map<string, string>()
  const redirected = (url: string, times: number): string => {
    if (times === 0) return url
    const next = redirected(url, times - 1)
    const target = `/moved/${redirects.size + 1}?to=${Hash.string(`${seed} ${next}`) >>> 0}`
    redirects.set(target, next)
    return `${new URL(url).origin}${target}`
  }
  return {
    outside: (signed) => {
      if (storage.urls === "SigV4") return signed
      const url = inDialect(storage.urls, read(new URL(signed), inside.size + 1))
      inside.set(targetOf(url), targetOf(signed))
      rewritten.set(canonical(targetOf(url)), targetOf(signed))
      return url
    },
    inside: (target, isExact) => (isExact ? inside.get(target) : rewritten.get(canonical(target))) ?? target,
    redirected,
    redirectOf: (target) => redirects.get(target)
  }
}
