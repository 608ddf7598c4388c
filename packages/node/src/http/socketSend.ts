import { toUrl } from "@effect/platform/HttpClientRequest"
import { timer } from "@stevedore/core/parts/timers"
import type * as Transport from "@stevedore/core/parts/transport"
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import * as Option from "effect/Option"
import { withoutBrotli } from "./brotli.js"
import type { Broken } from "./connection.js"
import * as ConnectionPool from "./connectionPool.js"
import type { RequestHead } from "./requestHead.js"
import { bytesOf, headOf } from "./socketClient.js"

/** A request of which everything is in memory. */
interface Exchange {
  readonly href: string
  readonly head: RequestHead
  readonly body: Uint8Array
  /** Called once the kernel has the whole body. */
  readonly onSent?: (() => void) | undefined
}

const unanswered = (late: boolean, { cause, head }: Broken): Transport.Unanswered => ({
  _tag: "Unanswered",
  late,
  cause,
  head
})

const notSent = (cause: unknown): Transport.Unanswered => ({ _tag: "Unanswered", late: false, cause, head: undefined })

/**
 * Sends a request on a connection of its own, and reads the whole answer. The end of the time is no fiber, but a timer that
 * breaks the connection off.
 */
export const exchange = (
  pool: ConnectionPool.ConnectionPool,
  { body, head, href, onSent = constVoid }: Exchange,
  { connect, deadline, longest }: Transport.SendLimits
): Effect.Effect<Transport.Answered, Transport.Unanswered> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(timer, (after) => {
      let late = false
      let loan: ConnectionPool.Loan | undefined
      const cancel = after(
        deadline,
        Effect.sync(() => {
          late = true
          loan?.connection.abandon("late")
        })
      )
      const answered = Effect.flatMap(pool.lend(href, connect, deadline), (lent) => {
        loan = lent
        lent.connection.request(head)
        lent.connection.sendAll(body, onSent)
        return Effect.map(restore(lent.connection.whole(longest)), (answer) => withoutBrotli(answer, longest))
      })
      const closed = Effect.flatMap(Effect.exit(answered), (exit) => {
        cancel()
        return loan === undefined ? exit : Effect.zipRight(ConnectionPool.giveBack(loan), exit)
      })
      return Effect.catchAll(closed, (broken) => {
        const failure = Effect.fail(unanswered(late, broken))
        return late ? failure : Effect.zipRight(pool.distrust(href), failure)
      })
    })
  )

/** The port over Node's sockets, with their own connections. */
export const make = (pool: ConnectionPool.ConnectionPool): Transport.Send => (request, limits) =>
  Effect.suspend(() => {
    const body = bytesOf(request.body)
    const url = toUrl(request)
    if (body === undefined || Option.isNone(url)) return Effect.fail(notSent(new TypeError("No request for a socket")))
    const { href } = url.value
    return Effect.flatMap(
      Effect.try({ try: () => headOf(request, href, body.byteLength), catch: notSent }),
      (head) => exchange(pool, { href, head, body }, limits)
    )
  })
