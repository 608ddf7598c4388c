import { accountability } from "./laws/Accountability.js"
import { bytes } from "./laws/Bytes.js"
import { conduct } from "./laws/Conduct.js"
import { ownership } from "./laws/Ownership.js"
import { repetition } from "./laws/Repetition.js"
import { resuming } from "./laws/Resuming.js"
import { type Law, Trial, type Violation } from "./laws/Trial.js"
import type { Told } from "./Simulation.js"

export type { Law, Violation }

/** What each of the laws says, in short. */
export const laws: Readonly<Record<Law, string>> = {
  1: "storage holds the source, or the error is typed",
  2: "Complete lists every part once, in order, with its last etag",
  3: "an attempt's connection is dead before the next begins",
  4: "nothing is thrown away once Complete may have arrived",
  5: "no secret leaves its place",
  6: "confirmed bytes never go down and never pass what storage has",
  7: "never more in flight than the limit",
  8: "it settles, at once when interrupted, and leaves nothing",
  9: "what cannot change is not sent again",
  10: "requests are bounded, and a SlowDown slows everything",
  11: "memory does not depend on the file",
  12: "a restart goes on from what storage confirmed",
  13: "who has lost the lock changes nothing any more"
}

/** Every breach of a law in a history. */
export const violations = (told: Told): ReadonlyArray<Violation> => {
  const trial = new Trial(told)
  for (const judge of [bytes, conduct, accountability, repetition, resuming, ownership]) judge(trial)
  return trial.violations
}
