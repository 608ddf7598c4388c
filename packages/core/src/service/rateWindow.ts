import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as RetryAfter from "../base/time.js"
import type { ReportedLimit } from "./rateHeaders.js"
import { reportedLimit } from "./rateHeaders.js"

type Headers = Readonly<Record<string, string | undefined>>

/** A rule that holds until the headers announce another. */
export interface Rule {
  readonly requests: number
  readonly windowSeconds: number
}

/** A wait ends early when a response arrives. */
export type Decision =
  | { readonly _tag: "Go" }
  | { readonly _tag: "Wait"; readonly until: number; readonly reason: "window" | "retryAfter" }

const go: Decision = { _tag: "Go" }

// However little patience a call has
const shortestBelief = Duration.toMillis("60 seconds")

const longestAsking = Duration.toMillis("5 seconds")

// How far the end of the same window may seem to move, because the server's `Date` is truncated to whole seconds
const sameWindow = 1500

interface Window {
  readonly limit: number
  /** The lowest count that a response reported. */
  remaining: number
  /** The highest count reported, and the number of responses: what is missing in between was used by others. */
  highest: number
  answers: number
  firstToldAt: number
  lastToldAt: number
  /** Undefined until a response of this window has arrived. */
  resetsAt: number | undefined
}

const untold = (limit: number): Window => ({
  limit,
  remaining: limit,
  highest: limit,
  answers: 0,
  firstToldAt: 0,
  lastToldAt: 0,
  resetsAt: undefined
})

/** How much others use: per call of ours, and per millisecond. */
interface Others {
  readonly each: number
  readonly rate: number
}

/**
 * What is known about the service's limit, and whether a call may go now. Calls in flight count as made. How much other
 * clients use of the same window is learned from how fast the count falls, and that much is left to them.
 */
export class RateWindow {
  #window: Window | undefined
  #headersSeen = false
  #inFlight = 0
  #enteredAt = 0
  #closedUntil = 0
  #closedSince = 0
  /** Since when a call has been on its way to find out whether the closure still holds. */
  #questionedAt = Infinity
  /** The recent duration of a call. */
  #latency = 0
  /** In the windows before this one. */
  #othersBefore: Others = { each: 0, rate: 0 }
  readonly #rule: Rule | undefined

  constructor(rule: Rule | undefined) {
    this.#rule = rule
    this.#window = rule && untold(rule.requests)
  }

  /**
   * `patience` is in milliseconds: a closure longer than that and than a minute is respected only that long, then one
   * call goes to find out. What it is told replaces the closure.
   */
  decide(now: number, patience: number): Decision {
    if (now < this.#closedUntil) {
      const belief = Math.max(patience, shortestBelief)
      const isDue = this.#closedUntil - now > belief && now - this.#closedSince >= belief
      if (!isDue) return { _tag: "Wait", until: this.#closedUntil, reason: "retryAfter" }
      this.#closedSince = now
      this.#questionedAt = Math.min(this.#questionedAt, now)
      return go
    }
    this.#beginAnew(now)
    if (this.#window === undefined || this.#inFlight === 0 && this.#window.resetsAt === undefined) return go
    if (this.#window.resetsAt === undefined) return this.#askFirst(this.#window, now)
    return this.#hasRoom(this.#window, now) ? go : { _tag: "Wait", until: this.#window.resetsAt, reason: "window" }
  }

  // In a window without any report yet, one call finds out how much of it others have used. The wait for it is limited,
  // because it may hang.
  #askFirst({ remaining }: Window, now: number): Decision {
    const until = this.#enteredAt + longestAsking
    if (now < until) return { _tag: "Wait", until, reason: "window" }
    return this.#inFlight < remaining ? go : { _tag: "Wait", until: now + longestAsking, reason: "window" }
  }

  #hasRoom(window: Window, now: number): boolean {
    const ours = this.#inFlight + 1
    const { each, rate } = this.#othersOf(window)
    // whichever is more: others may keep pace with us, or have a pace of their own
    const others = Math.max(ours * each, rate * (now - window.lastToldAt + this.#latency))
    // two standard deviations more than expected, but never so much that nothing is left for us
    const reserve = Math.min(others + 2 * Math.sqrt(others), window.limit / 4)
    return window.remaining >= ours + reserve
  }

  #othersOf({ answers, firstToldAt, highest, lastToldAt, remaining }: Window): Others {
    if (answers < 2) return this.#othersBefore
    const ours = answers - 1
    const others = Math.max(0, highest - remaining - ours)
    return {
      each: Math.max(this.#othersBefore.each, others / ours),
      rate: Math.max(this.#othersBefore.rate, others / Math.max(1, lastToldAt - firstToldAt))
    }
  }

  #beginAnew(now: number): void {
    if (this.#window?.resetsAt !== undefined && now >= this.#window.resetsAt) this.#next(untold(this.#window.limit))
  }

  #next(window: Window): void {
    if (this.#window !== undefined && this.#window.answers > 0) {
      const { each, rate } = this.#othersOf(this.#window)
      this.#othersBefore = { each: each / 2, rate: rate / 2 }
    }
    this.#window = window
  }

  enter(now: number): void {
    this.#inFlight++
    this.#enteredAt = now
  }

  /** A call without a response may have been counted all the same. */
  leave(answered: boolean): void {
    this.#inFlight--
    if (!answered && this.#window !== undefined) this.#window.remaining--
  }

  /** `enteredAt` is when the answered call was let through, `wall` the current time of our wall clock. */
  answer(
    status: number,
    headers: Headers,
    { enteredAt, now, wall }: { readonly enteredAt: number; readonly now: number; readonly wall: number }
  ): void {
    this.#latency = this.#latency === 0 ? now - enteredAt : (3 * this.#latency + now - enteredAt) / 4
    Option.match(reportedLimit(headers, now, wall), {
      onNone: () => this.#count(status, now),
      onSome: (limit) => this.#learn(limit, now)
    })
    const retryAfter = status === 429 ? RetryAfter.retryAfterIn(headers, wall) : undefined
    const isVerdict = retryAfter !== undefined || (status !== 429 && status < 500)
    if (isVerdict && enteredAt >= this.#questionedAt) this.#closedUntil = 0
    if (status === 429) this.#close(retryAfter, now)
  }

  // A gateway that could not reach the service says nothing about the service's limit
  #count(status: number, now: number): void {
    if (this.#window === undefined || status >= 500) return
    if (this.#headersSeen) {
      if (this.#window.resetsAt === undefined) this.#window = undefined
    } else {
      this.#window.remaining--
      if (this.#rule !== undefined) this.#window.resetsAt ??= now + this.#rule.windowSeconds * 1000
    }
  }

  #learn({ limit, remaining, resetsAt }: ReportedLimit, now: number): void {
    this.#headersSeen = true
    const known = this.#window?.resetsAt
    if (this.#window === undefined || known === undefined || resetsAt > known + sameWindow) {
      this.#next({ limit, remaining, highest: remaining, answers: 1, firstToldAt: now, lastToldAt: now, resetsAt })
    } else if (resetsAt >= known - sameWindow) {
      this.#window.answers++
      this.#window.lastToldAt = now
      this.#window.remaining = Math.min(this.#window.remaining, remaining)
      this.#window.highest = Math.max(this.#window.highest, remaining)
    }
  }

  #close(retryAfter: Duration.Duration | undefined, now: number): void {
    if (retryAfter !== undefined) {
      this.#closedUntil = Math.max(this.#closedUntil, now + Duration.toMillis(retryAfter))
      this.#closedSince = now
      this.#questionedAt = Infinity
    } else if (this.#window !== undefined) {
      this.#window.remaining = 0
    }
  }

  /** What is left, minus the calls in flight; none if nothing is known. */
  status(now: number): Option.Option<{ limit: number; remaining: number; resetsAt: number | undefined }> {
    this.#beginAnew(now)
    if (this.#window === undefined) return Option.none()
    const { limit, remaining, resetsAt } = this.#window
    return now < this.#closedUntil
      ? Option.some({ limit, remaining: 0, resetsAt: this.#closedUntil })
      : Option.some({ limit, remaining: Math.max(0, remaining - this.#inFlight), resetsAt })
  }
}
