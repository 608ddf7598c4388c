/**
 * The life of a file as a table: what may happen to it in each state, to whom, and what it is then. Pure and total. Nothing
 * else says so: the table in memory applies {@link next}, the statements of the one in SQL are made of these rows, and
 * `Uploads` reads what a state means.
 *
 * ```
 * opening ─► waiting ◄─► completing ─┬──────────────► finalized ─┐ discard
 *    │          │                    ├─► inspecting ──►  │       │
 *    │          │                    │       │                   │
 *    │          │                    └───────┴─► failed          │
 *    └──────────┴── expired ─────────► removing ◄────────────────┘
 *                                         └─► removed ─► forgotten
 * ```
 */
import * as Arr from "effect/Array"
import type { FileEvent, FileState } from "../FileTable.js"
import { SECOND_LOOK_MILLIS } from "../FileTable.js"

/** What can happen to a file: `sweep` is that somebody looks after what nobody looks after. */
export type Event =
  | "open"
  | "claim"
  | "renew"
  | "release"
  | "inspect"
  | "finalize"
  | "fail"
  | "sweep"
  | "remove"
  | "forget"
  | "discard"

/** On what an event depends, besides the state. */
export type Condition =
  | "always"
  /** It has not expired. */
  | "alive"
  | "expired"
  /** Whoever asks has its lease. */
  | "held"
  /** Its lease has ended. */
  | "free"
  /** Its lease has ended, it is removed for an hour, and its event is delivered. */
  | "rested"

/** What an event leads to, and on which condition. */
export type Transition = readonly [to: FileState | "forgotten", when: Condition]

export const transitions: { readonly [S in FileState]: { readonly [E in Event]?: Transition } } = {
  opening: { open: ["waiting", "always"], sweep: ["removing", "expired"] },
  waiting: { claim: ["completing", "alive"], sweep: ["removing", "expired"] },
  completing: {
    claim: ["completing", "free"],
    renew: ["completing", "held"],
    release: ["waiting", "held"],
    inspect: ["inspecting", "held"],
    finalize: ["finalized", "held"],
    fail: ["failed", "held"],
    sweep: ["completing", "free"]
  },
  inspecting: {
    renew: ["inspecting", "held"],
    finalize: ["finalized", "held"],
    fail: ["failed", "held"],
    sweep: ["inspecting", "free"]
  },
  finalized: { discard: ["removing", "always"] },
  failed: {},
  removing: { renew: ["removing", "held"], remove: ["removed", "held"], sweep: ["removing", "free"] },
  removed: { renew: ["removed", "held"], forget: ["forgotten", "held"], sweep: ["removed", "rested"] }
}

/** Whether whoever asks has the lease afterwards, or nobody, and whether the file is settled then. */
export const events: { readonly [E in Event]: { readonly takesLease?: true; readonly settles?: true } } = {
  open: {},
  claim: { takesLease: true },
  renew: { takesLease: true },
  release: {},
  inspect: { settles: true },
  finalize: { settles: true },
  fail: { settles: true },
  sweep: { takesLease: true },
  remove: { settles: true },
  forget: {},
  discard: {}
}

/** How `completing` or `inspecting` ends. */
export const eventOf = { inspecting: "inspect", finalized: "finalize", failed: "fail" } as const

/** What a state means to whoever asks. */
export interface Meaning {
  /** As sent on the wire. */
  readonly status: "pending" | "completed" | "failed"
  /** What Complete does: takes the file and settles it, answers with it, says why not, or knows nothing of it. */
  readonly complete: "claim" | "answer" | "conflict" | "unknown"
  /** Whether its record can be asked for. */
  readonly isShown: boolean
  /** Whether its bytes may still be sent. */
  readonly takesBytes: boolean
  /** What whoever has swept it does. */
  readonly care: "settle" | "inspect" | "remove" | "nothing"
  /** Whether it counts towards the quota of its tenant; `unsettled`: unless it was settled before. */
  readonly counts: boolean | "unsettled"
}

// of a file that nobody sees, and for which there is nothing to do
const hidden = {
  status: "pending",
  complete: "unknown",
  isShown: false,
  takesBytes: false,
  care: "nothing",
  counts: true
} as const

export const meanings: { readonly [S in FileState]: Meaning } = {
  opening: hidden,
  waiting: { ...hidden, complete: "claim", takesBytes: true },
  completing: { ...hidden, complete: "claim", care: "settle" },
  inspecting: { ...hidden, complete: "answer", isShown: true, care: "inspect" },
  finalized: { ...hidden, status: "completed", complete: "answer", isShown: true },
  failed: { ...hidden, status: "failed", complete: "conflict", isShown: true, counts: false },
  removing: { ...hidden, care: "remove", counts: "unsettled" },
  removed: { ...hidden, care: "remove", counts: false }
}

/** What the events of a file depend on. Times are of one clock, in milliseconds. */
export interface Life {
  readonly state: FileState
  readonly expiresAt: number
  readonly settledAt: number | undefined
  readonly leaseOwner: string | undefined
  readonly leaseUntil: number
}

/** Who asks, when, and for how long he wants the lease. */
export interface Requested {
  readonly now: number
  readonly owner?: string | undefined
  readonly leaseMillis?: number | undefined
  /** What expires later has not expired, whatever the time is. */
  readonly until?: number | undefined
  /** Whether all that happened to the file is told. */
  readonly isTold?: boolean | undefined
}

const isMet: { readonly [C in Condition]: (life: Life, asked: Requested) => boolean } = {
  always: () => true,
  alive: ({ expiresAt }, { now }) => expiresAt > now,
  expired: ({ expiresAt }, { now, until = now }) => expiresAt <= Math.min(now, until),
  held: ({ leaseOwner }, { owner }) => leaseOwner !== undefined && leaseOwner === owner,
  free: ({ leaseUntil }, { now }) => leaseUntil <= now,
  rested: ({ leaseUntil, settledAt }, { isTold, now }) =>
    leaseUntil <= now && (settledAt ?? now) + SECOND_LOOK_MILLIS <= now && isTold === true
}

/** The life after an event; undefined if it may not happen, and `forgotten` if there is none. */
export const next = (life: Life, event: Event, asked: Requested): Life | "forgotten" | undefined => {
  const [to, when] = transitions[life.state][event] ?? []
  if (to === undefined || when === undefined || !isMet[when](life, asked)) return undefined
  if (to === "forgotten") return "forgotten"
  const { settles, takesLease } = events[event]
  const { leaseMillis = 0, now, owner } = asked
  return {
    state: to,
    expiresAt: life.expiresAt,
    settledAt: settles === true ? now : life.settledAt,
    leaseOwner: takesLease === true ? owner : undefined,
    // whoever looks after it next takes it at once
    leaseUntil: takesLease === true ? now + leaseMillis : now
  }
}

/** The state as it is told: what has expired is `removing` before a sweeper has come. */
export const stateAt = ({ expiresAt, state }: Pick<Life, "expiresAt" | "state">, now: number): FileState => {
  const [to, when] = transitions[state].sweep ?? []
  return to !== undefined && to !== "forgotten" && when === "expired" && expiresAt <= now ? to : state
}

/** What is told of having come into a state from another one. */
export const fileEventOf = (from: FileState, to: FileState): FileEvent["kind"] | undefined =>
  from === to ? undefined : to === "finalized" ? "completed" : to === "removed" || to === "failed" ? to : undefined

/** Whether a file counts towards the quota of its tenant. */
export const isCounted = ({ settledAt, state }: Pick<Life, "settledAt" | "state">): boolean => {
  const { counts } = meanings[state]
  return counts === "unsettled" ? settledAt === undefined : counts
}

const steps = Object.entries(transitions).flatMap(([from, ways]) =>
  Object.entries(ways).map(([event, [to, when]]) => ({ from, event, to, when }))
)

/** From which states an event leads on, by its condition. */
export const waysOf = (
  event: Event
): ReadonlyArray<{ readonly when: Condition; readonly froms: ReadonlyArray<string> }> => {
  const found = steps.filter((step) => step.event === event)
  return Arr.dedupe(found.map(({ when }) => when)).map((when) => ({
    when,
    froms: found.filter((step) => step.when === when).map(({ from }) => from)
  }))
}

/** The states that an event changes, and into which. */
export const changesOf = (event: Event): ReadonlyArray<readonly [from: string, to: string]> =>
  steps.filter((step) => step.event === event && step.from !== step.to).map(({ from, to }) => [from, to])
