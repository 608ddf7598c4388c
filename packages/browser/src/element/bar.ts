import type { Item } from "../queue/model.js"
import * as Words from "../words.js"
import { make } from "./dom.js"

type Amounts = Pick<Item, "sent" | "confirmed" | "size">

const shareOf = (bytes: number, size: number): number => size === 0 ? 0 : Math.min(1, bytes / size)

/** What was sent and what is confirmed, in two tones, and the percentage at the end. */
export const makeBar = (label = "") => {
  const sent = make("i", { class: "sent", part: "sent" })
  const confirmed = make("i", { class: "confirmed", part: "confirmed" })
  const bar = make(
    "div",
    {
      class: "bar",
      part: "bar",
      role: "progressbar",
      "aria-label": label,
      "aria-valuemin": "0",
      "aria-valuemax": "100"
    },
    sent,
    confirmed
  )
  const share = make("span", { class: "share", "aria-hidden": "true" })
  return {
    element: make("div", { class: "progress" }, bar, share),
    show: (now: Amounts, percentage: string, told: string): void => {
      bar.ariaValueNow = `${Words.percent(now)}`
      bar.ariaValueText = told
      share.textContent = percentage
      sent.style.transform = `scaleX(${shareOf(now.sent, now.size)})`
      confirmed.style.transform = `scaleX(${shareOf(now.confirmed, now.size)})`
    },
    call: (label: string): void => {
      bar.ariaLabel = label
    }
  }
}

/** What the two tones of a bar mean, in numbers. */
export const tones = (words: Words.Words, now: Amounts): string =>
  [["stored", now.confirmed] as const, ["onItsWay", Math.max(0, now.sent - now.confirmed)] as const]
    .map(([key, bytes]) => Words.say(words, key, { amount: Words.bytes(words, bytes) })).join(" · ")

/** Its lines break only between what the dots separate, if there are any, and within what has no number. */
export const unbroken = (words: string): string => {
  const parts = words.split(" · ")
  return parts.length === 1
    ? words
    : parts.map((part) => /\p{Nd}/u.test(part) ? part.replaceAll(" ", "\u00a0") : part).join("\u00a0· ")
}
