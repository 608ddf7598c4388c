import { Effect } from "effect"
import type { Socket } from "node:net"
import { connect, createServer } from "node:net"

/**
 * Which bytes do not pass: those in both directions, or only those that come back, so that statements arrive and nobody
 * hears of it.
 */
export type Cut = "both" | "answers"

/** A line to a database that can be cut without either end noticing, and healed: what was held up arrives then. */
export const linked = (databaseUrl: string) =>
  Effect.gen(function*() {
    const url = new URL(databaseUrl)
    const state: { cut: Cut | undefined } = { cut: undefined }
    const held: Array<() => void> = []
    const sockets = new Set<Socket>()
    const pump = (from: Socket, to: Socket, isCut: () => boolean) => {
      sockets.add(from)
      const pass = (go: () => void) => isCut() ? void held.push(go) : go()
      from.on("data", (bytes) => pass(() => void to.write(bytes)))
      from.on("error", () => undefined)
      from.on("close", () => {
        sockets.delete(from)
        pass(() => void to.destroy())
      })
    }
    const server = createServer((near) => {
      const far = connect(Number(url.port), url.hostname)
      pump(near, far, () => state.cut === "both")
      pump(far, near, () => state.cut !== undefined)
    })
    const listening = Effect.async<number>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
      })
    })
    const port = yield* Effect.acquireRelease(listening, () =>
      Effect.async<void>((resume) => {
        server.close(() => resume(Effect.void))
        for (const socket of sockets) socket.destroy()
      }))
    const through = new URL(url)
    through.port = `${port}`
    return {
      url: through.href,
      cut: (cut: Cut) => Effect.sync(() => void (state.cut = cut)),
      heal: Effect.sync(() => {
        state.cut = undefined
        for (const go of held.splice(0)) go()
      })
    }
  })
