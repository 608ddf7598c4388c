/** What became of a walk, in words. */
import type { Fault } from "./Fault.js"
import { expectations } from "./Fault.js"
import { itemCount } from "./FaultyList.js"

/** What was seen from outside: by the server, by the clock, and by the last report of the walking process. */
export interface Observation {
  readonly fault: Fault
  readonly requests: number
  /** Requests before the time that the server had told. */
  readonly early: number
  readonly items: number
  readonly again: number | undefined
  readonly duplicates: number
  readonly end:
    | { readonly _tag: "Done" }
    | { readonly _tag: "Error"; readonly name: string; readonly message: string; readonly isOwn: boolean }
    /** Stopped from outside: it had made more requests than any walk of this list needs, or made none any more. */
    | { readonly _tag: "TooManyRequests" }
    | { readonly _tag: "TooLong" }
    | { readonly _tag: "Vanished" }
}

export interface Verdict {
  readonly isRight: boolean
  readonly text: string
}

const wrong = (text: string): Verdict => ({ isRight: false, text })

const right = (text: string): Verdict => ({ isRight: true, text })

const lost = (items: number): string => `**lost ${itemCount - items}**`

const ofDone = (seen: Observation): Verdict => {
  if (seen.items < itemCount) return wrong(`${lost(seen.items)}, ends as if complete`)
  if (seen.again !== undefined && seen.again < itemCount) return wrong(`${lost(seen.again)} the second time`)
  if (seen.early > 0) return wrong(`retries too early, ${seen.early} times`)
  if (seen.duplicates > 0) return wrong(`${seen.duplicates} items twice`)
  return expectations[seen.fault].end === "everything" ? right("right") : wrong("ends as if there were no fault")
}

const ofError = (seen: Observation, error: { readonly name: string; readonly isOwn: boolean }): Verdict => {
  if (!error.isOwn) return wrong(`**crash**: ${error.name}`)
  if (seen.early > 0) return wrong(`retries too early, ${seen.early} times; then ${error.name}`)
  return expectations[seen.fault].end === "error" ? right(`right: ${error.name}`) : wrong(`gives up: ${error.name}`)
}

export const verdict = (seen: Observation): Verdict => {
  switch (seen.end._tag) {
    case "Done":
      return ofDone(seen)
    case "Error":
      return ofError(seen, seen.end)
    case "TooManyRequests":
      return wrong("**endless**")
    case "TooLong":
      return wrong("**asleep**")
    case "Vanished":
      return wrong("**crash**: the process exited without a message")
  }
}
