import * as Hash from "effect/Hash"
import type { ServiceVariation } from "./ServiceVariation.js"
import * as TwoWay from "./twoWay.js"

const hexadecimal = (text: string, length: number): string => {
  let made = ""
  for (let round = 0; made.length < length; round++) {
    made += (Hash.string(`${round} ${text}`) >>> 0).toString(16).padStart(8, "0")
  }
  return made.slice(0, length)
}

const uuid = (text: string): string => {
  const digits = hexadecimal(text, 30)
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(12, 15)}`,
    `a${digits.slice(15, 18)}`,
    digits.slice(18)
  ]
    .join("-")
}

const firstId = 700_001

/** Ids of files. @internal */
export const ids = ({ session }: ServiceVariation): TwoWay.TwoWay =>
  TwoWay.make((inside, number) => {
    switch (session.ids) {
      case "base62":
        return inside
      case "uuid":
        return uuid(inside)
      case "digits":
        return `00${number}`
      case "number":
        return String(firstId + number)
      case "leading dash":
        return `-${inside}`
      case "reserved characters":
        return `ü ${number}/?#%2F&=+;:@"<${inside.slice(0, 4)}`
    }
  })

export const uploadIds = ({ session }: ServiceVariation): TwoWay.TwoWay =>
  TwoWay.make((inside, number) => {
    switch (session.uploadIds) {
      case "base62":
        return inside
      case "symbols":
        return `${inside.slice(0, 12)}+/=="'\\ü&%20 ${number}`
      case "digits":
        return `000${number}`
      case "4000 characters":
        return `${number}-`.padEnd(4000, inside)
    }
  })

const withoutQuotes = (etag: string): string => etag.replaceAll("\"", "")

export const etags = ({ storage }: ServiceVariation): TwoWay.TwoWay =>
  TwoWay.make((inside, number) => {
    const text = withoutQuotes(inside)
    switch (storage.etags) {
      case "quoted":
        return inside
      case "unquoted":
        return text
      case "weak":
        return `W/"${text}"`
      case "with a hyphen":
        return `"${text}-${number}"`
      case "short":
        return `"${number}"`
      case "long":
        return `"${text.repeat(20)}"`
      case "symbols":
        return `"${text.slice(0, 8)}+/=:;,~${number}"`
    }
  })

export const cursors = ({ lists }: ServiceVariation): TwoWay.TwoWay =>
  TwoWay.make((inside, number) => {
    switch (lists.cursors) {
      case "base64":
        return inside
      case "symbols":
        return `${number}+/= &?#%2B%ü"'[]`
      case "digits":
        return `00${number}`
      case "2000 characters":
        return `${number}.`.padEnd(2000, "cursor_")
      case "JSON":
        return JSON.stringify({ after: number, of: ["é", null] })
    }
  })
