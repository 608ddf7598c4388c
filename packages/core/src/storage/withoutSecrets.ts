import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as PresignedUrl from "../PresignedUrl.js"

/** What must not be in a text: whatever of it is known where the text arrived. */
export interface Secrets {
  /** The token of the request. */
  readonly token?: Redacted.Redacted<string> | undefined
  /** The URL of the request. */
  readonly url?: PresignedUrl.PresignedUrl | undefined
  /** The URLs that the service has issued. */
  readonly issued?: ReadonlyArray<PresignedUrl.PresignedUrl> | undefined
}

/** So much of a secret may be shown: no more than one shows of a key to tell it from others. */
const shortest = 8

/** Secrets by their first characters, in lower case. */
type Index = Map<string, Set<string>>

const add = (index: Index, secret: string): void => {
  if (secret.length < shortest) return
  const begin = secret.slice(0, shortest)
  index.set(begin, (index.get(begin) ?? new Set()).add(secret))
}

// A text may quote the middle of a secret, or its end
const addEveryEnd = (index: Index, secret: string): void => {
  for (let start = 0; start + shortest <= secret.length; start += 1) add(index, secret.slice(start))
}

// Each is the same for every URL of a signer, or says nothing that is not public
const harmless =
  /^(?:x-(?:amz|goog)-(?:algorithm|date|expires|signedheaders|content-sha256)|x-id|partnumber|expires|se|st|sv|sp|sr|spr|response-.*|versionid)$/

const decoded = (text: string): string => Option.getOrElse(decodeUri(text), () => text)

const decodeUri = Option.liftThrowable(decodeURIComponent)

const valuesOf = (url: PresignedUrl.PresignedUrl): ReadonlyArray<string> =>
  (/\?([^#]*)/.exec(PresignedUrl.reveal(url))?.[1] ?? "").split("&").flatMap((parameter) => {
    const [name = "", ...rest] = parameter.split("=")
    if (harmless.test(decoded(name).toLowerCase())) return []
    const value = rest.join("=").toLowerCase()
    // a credential goes on with a date and a region, which messages name for good reason
    return /credential$/i.test(name) ? [decoded(value).replace(/\/.*/, "")] : [value, decoded(value)]
  })

const indices = new WeakMap<ReadonlyArray<PresignedUrl.PresignedUrl>, Index>()

const indexOfIssued = (urls: ReadonlyArray<PresignedUrl.PresignedUrl>): Index => {
  const known = indices.get(urls)
  if (known !== undefined) return known
  const index: Index = new Map()
  for (const url of urls) valuesOf(url).forEach((value) => add(index, value))
  indices.set(urls, index)
  return index
}

/** So many tokens of this process are known: those that were used last. */
const mostTokens = 16

const tokens = new Map<string, Index>()

const indexOfToken = (token: Redacted.Redacted<string>): Index => {
  const value = Redacted.value(token).toLowerCase()
  const known = tokens.get(value)
  if (known !== undefined) return known
  const index: Index = new Map()
  addEveryEnd(index, value)
  return index
}

/**
 * From here on no text of anybody repeats this token, also where nobody has it at hand: what the service is sent, storage
 * or a server of the web may quote.
 */
export const remember = (token: Redacted.Redacted<string>): void => {
  const value = Redacted.value(token).toLowerCase()
  const index = indexOfToken(token)
  tokens.delete(value)
  tokens.set(value, index)
  for (const oldest of tokens.keys()) {
    if (tokens.size <= mostTokens) return
    tokens.delete(oldest)
  }
}

const indicesOf = ({ issued = [], token, url }: Secrets): ReadonlyArray<Index> => {
  const own: Index = new Map()
  if (url !== undefined) valuesOf(url).forEach((value) => addEveryEnd(own, value))
  const ofToken = token === undefined ? [] : [indexOfToken(token)]
  return [own, indexOfIssued(issued), ...ofToken, ...tokens.values()].filter(({ size }) => size > 0)
}

/** A text, and from where to where in the original each of its characters comes. */
interface View {
  readonly text: string
  readonly from: ReadonlyArray<number>
  readonly to: ReadonlyArray<number>
}

const names: Readonly<Record<string, string>> = {
  amp: "&",
  apos: "'",
  colon: ":",
  commat: "@",
  dash: "-",
  equals: "=",
  gt: ">",
  hyphen: "-",
  lowbar: "_",
  lt: "<",
  num: "#",
  percnt: "%",
  period: ".",
  plus: "+",
  quest: "?",
  quot: "\"",
  sol: "/"
}

// by the names above: what merely looks like a name may follow an ampersand that is one
const encoded = /* #__PURE__ */ new RegExp(
  String.raw`%(?:25)*(?:u([\da-f]{4})|([\da-f]{2}))|&(?:amp;)*(?:#(\d{1,7})|#x([\da-f]{1,6})|(${
    Object.keys(names).join("|")
  }));?|\\+(?:u\{?([\da-f]{4,6})\}?|x([\da-f]{2})|([^\w\s]))`,
  "gi"
)

const character = (digits: string, base: number): string => {
  const code = Number.parseInt(digits, base)
  return code <= 0xffff ? String.fromCharCode(code) : "\ufffd"
}

const changed = (view: View, pattern: RegExp, put: (match: RegExpMatchArray) => string | undefined): View => {
  let text = ""
  let at = 0
  const from: Array<number> = []
  const to: Array<number> = []
  const keep = (until: number) => {
    text += view.text.slice(at, until)
    for (; at < until; at += 1) {
      from.push(view.from[at] ?? 0)
      to.push(view.to[at] ?? 0)
    }
  }
  for (const match of view.text.matchAll(pattern)) {
    const replacement = put(match)
    if (replacement === undefined) continue
    keep(match.index)
    at += match[0].length
    text += replacement
    for (let one = 0; one < replacement.length; one += 1) {
      from.push(view.from[match.index] ?? 0)
      to.push(view.to[at - 1] ?? 0)
    }
  }
  keep(view.text.length)
  return { text, from, to }
}

const undressed = (view: View): View =>
  changed(view, encoded, ([, wide, percent, decimal, hexadecimal, name, unicode, byte, escaped]) => {
    const hex = wide ?? percent ?? hexadecimal ?? unicode ?? byte
    return hex !== undefined
      ? character(hex, 16)
      : decimal !== undefined
      ? character(decimal, 10)
      : name !== undefined
      ? names[name.toLowerCase()]
      : escaped
  })

// Line breaks with their indentation, and what can be put between characters without being seen
const unwrapped = (view: View): View => changed(view, /[^\S\n]*\n\s*|[\u00ad\u200b-\u200d\u2060\ufeff]+/g, () => "")

const unspaced = (view: View): View => changed(view, /\s+/g, () => "")

type Mark = readonly [from: number, to: number]

const marksOfValues = ({ from, text, to }: View, index: ReadonlyArray<Index>): ReadonlyArray<Mark> => {
  const marks: Array<Mark> = []
  const lower = text.toLowerCase()
  if (lower.length !== text.length) return marks
  for (let start = 0; start + shortest <= lower.length; start += 1) {
    const begin = lower.slice(start, start + shortest)
    let length = 0
    for (const one of index) {
      for (const secret of one.get(begin) ?? []) {
        let same = shortest
        while (same < secret.length && lower[start + same] === secret[same]) same += 1
        length = Math.max(length, same)
      }
    }
    if (length === 0) continue
    marks.push([from[start] ?? 0, to[start + length - 1] ?? 0])
    start += length - 1
  }
  return marks
}

const signedQuery =
  /(?:(\?)[^\s"'<>?]*|\b)(?:signature|sig|credential|security-token)(?:=[^\s"'<>]+|["']?\s*(?:[:=]|=>)\s*["']?[\w%+/=.~-]{16,})/gi

// No word is so long, and no name of a file without a point, a hyphen or a blank: a key that something quotes. Nor does
// anybody put the letters of a word into entities or escapes.
const longestWord = 40
const key = /[a-z\d+=]{12,}/gi

const marksOfNames = ({ from, text, to }: View): ReadonlyArray<Mark> =>
  Array.from(text.matchAll(signedQuery), ({ 0: { length }, 1: question = "", index }) => [
    from[index + question.length] ?? 0,
    to[index + length - 1] ?? 0
  ])

const marksOfKeys = ({ from, text, to }: View): ReadonlyArray<Mark> =>
  Array.from(text.matchAll(key), ({ 0: run, index }): readonly [run: string, mark: Mark] => [
    run,
    [from[index] ?? 0, to[index + run.length - 1] ?? 0]
  ]).filter(([run, [from, to]]) =>
    /\d/.test(run) && /[a-z]/i.test(run) && (run.length >= longestWord || to - from >= 2 * run.length)
  ).map(([, mark]) => mark)

const bytesOf = (digits: string): string =>
  atob((digits.length % 4 === 1 ? `${digits}A` : digits).replaceAll("-", "+").replaceAll("_", "/"))

const viewOf = (text: string): View => ({
  text,
  from: Array.from({ length: text.length }, (_, at) => at),
  to: Array.from({ length: text.length }, (_, at) => at + 1)
})

// Base64 may begin anywhere among characters that it has too, as after the slash of a path
const readings = (run: string): ReadonlyArray<string> =>
  [0, 1, 2, 3].map((start) => bytesOf(run.slice(start))).concat(
    (run.match(/[\da-f]{16,}/gi) ?? []).map((digits) => digits.replace(/../g, (byte) => character(byte, 16)))
  )

const marksOfRuns = (view: View, index: ReadonlyArray<Index>, layers: number): ReadonlyArray<Mark> =>
  layers === 0
    ? []
    : Array.from(view.text.matchAll(/([\w+/-]{8,})=*/g)).flatMap(({ 0: { length }, 1: run = "", index: at }) =>
      readings(run).some((reading) => marksIn(reading, index, layers - 1).length > 0)
        ? [[view.from[at] ?? 0, view.to[at + length - 1] ?? 0] as const]
        : []
    )

const marksIn = (text: string, index: ReadonlyArray<Index>, layers: number): ReadonlyArray<Mark> => {
  let marks: ReadonlyArray<Mark> = []
  let view = viewOf(text)
  // each time through takes off one dress, and the last finds nothing more to take off
  for (let dresses = 0; dresses < 4; dresses += 1) {
    const whole = unwrapped(view)
    marks = [
      marks,
      marksOfNames(whole),
      marksOfKeys(whole),
      marksOfValues(unspaced(whole), index),
      marksOfRuns(whole, index, layers)
    ]
      .flat()
    const next = undressed(view)
    if (next.text === view.text) break
    view = next
  }
  return marks
}

/** The characters that an error, a log or a span keeps of one text of a server. */
export const longestText = 1000

/**
 * Text of a server without what it may quote of a request or a session: the token, and the query of a pre-signed URL.
 * Gateways and validators quote what they refuse, whole or in part, in whatever form they have it: as JSON, in entities,
 * percent-encoded, in Base64. So what is known to be secret is searched for in each of these forms, and what is named
 * like a signature is taken for one. All text from a server that an error, a log or a span repeats passes through here.
 * It is cut after `longest` characters, so that a hostile text costs little.
 */
export const withoutSecrets = (text: string, secrets: Secrets = {}, longest = longestText): string => {
  const short = text.length > longest ? `${text.slice(0, longest)}\u2026` : text
  const marks = [...marksIn(short, indicesOf(secrets), 2)].sort(([one], [other]) => one - other)
  let clean = ""
  let at = 0
  for (const [from, to] of marks) {
    if (from >= at) clean += `${short.slice(at, from)}<redacted>`
    at = Math.max(at, to)
  }
  clean += short.slice(at)
  const token = secrets.token === undefined ? "" : Redacted.value(secrets.token)
  // too short to be searched for by its beginning
  return token === "" || token.length >= shortest ? clean : clean.replaceAll(token, "<redacted>")
}
