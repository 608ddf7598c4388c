import * as Effect from "effect/Effect"
import { bodies, taken } from "../../../server/test/support/hostileBodies.js"
import * as Markdown from "../Markdown.js"
import type { Topic } from "../Topic.js"

/** What whoever has a token can make a service do by one body. */
export const hostile: Topic = {
  name: "hostile",
  run: ({ runs }) =>
    Effect.gen(function*() {
      const rows: Array<{ readonly what: string } & Effect.Effect.Success<ReturnType<typeof taken>>> = []
      for (const [what, body] of bodies) {
        // the first is the compiler's
        const all = yield* Effect.replicateEffect(taken(body), runs + 1)
        const most = (of: "answer" | "mebibytes") => Math.max(...all.map((one) => one[of]))
        const [millis = NaN] = all.slice(1).map((one) => one.millis).sort((left, right) => left - right)
        rows.push({ what, millis, answer: most("answer"), mebibytes: most("mebibytes") })
      }
      const worst = (of: "millis" | "answer" | "mebibytes") => Math.max(...rows.map((row) => row[of]))
      return {
        title: "Bodies that are meant to hold a service up",
        conditions: "Each body is read as the service reads it, in one turn; 4 MiB, or what is said.",
        body: Markdown.table(
          ["body", "CPU", "answer", "heap"],
          rows.map(({ answer, mebibytes, millis, what }) => [
            what,
            `${millis.toFixed(1)} ms`,
            `${answer} B`,
            `${mebibytes.toFixed(1)} MiB`
          ])
        ),
        goals: [
          { title: "CPU of one turn, in milliseconds", safe: 50, aim: 25, measured: worst("millis") },
          { title: "bytes of an answer", safe: 65_536, aim: 32_768, measured: worst("answer") },
          { title: "more memory, in MiB", safe: 50, aim: 30, measured: worst("mebibytes") }
        ]
      }
    })
}
