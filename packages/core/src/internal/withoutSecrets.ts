import * as Redacted from "effect/Redacted"

const mark = "<redacted>"

const signedQuery = /(?:(\?)[^\s"'<>?]*|\b)(?:signature|sig|credential|security-token)=[^\s"'<>]*/gi

const shown = (text: string, token: Redacted.Redacted<string> | undefined): string => {
  const rest = text.replace(signedQuery, `$1${mark}`)
  return token === undefined ? rest : rest.replaceAll(Redacted.value(token), mark)
}

const bytesOf = (digits: string): string =>
  atob((digits.length % 4 === 1 ? `${digits}A` : digits).replaceAll("-", "+").replaceAll("_", "/"))

const hides = (text: string, token: Redacted.Redacted<string> | undefined, layers: number): boolean => {
  const plain = text.replace(/%(?:25)*([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
  return shown(plain, token) !== plain ||
    (layers > 0 && (plain.match(/[\w+/-]{8,}/g) ?? []).some((run) =>
      // Base64 may begin anywhere among characters that it has too, as after the slash of a path
      [0, 1, 2, 3].some((start) => hides(bytesOf(run.slice(start)), token, layers - 1))
    ))
}

/**
 * Text of a server without what it may quote of a request or a session: the token, and the query of a pre-signed URL.
 * Gateways and validators quote what they refuse, some percent-encoded or in Base64; a word that hides a secret in that
 * way is dropped as a whole. All text from a server that an error, a log or a span repeats passes through here.
 *
 * @internal
 */
export const withoutSecrets = (text: string, token?: Redacted.Redacted<string>): string =>
  shown(text, token).replace(/[^\s"<>]+/g, (word) => hides(word, token, 2) ? mark : word)
