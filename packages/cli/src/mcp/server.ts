/** The server of `stevedore mcp`, on standard input and output. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext
} from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import type { Readable, Writable } from "node:stream"
import * as Configuration from "../connection/configuration.js"
import * as Throttle from "../connection/throttle.js"
import { invalid } from "../options/invalidInput.js"
import { loggedBy } from "../print/output.js"
import * as Version from "../print/version.js"
import { answered, failed, refusalOf } from "./answers.js"
import { Calling, transport } from "./lines.js"
import type { Options } from "./options.js"
import * as Roots from "./roots.js"
import * as Tools from "./tools.js"
import * as Transfers from "./transfers.js"
import { answerOf, type Progress } from "./waiting.js"

const instructions =
  "Moves files between this machine and the service by their paths: no content is ever in a message. upload gives an id; " +
  "upload_status tells how it stands and waits for news: call it until the state is done, failed or cancelled. A transfer " +
  "goes on between calls, and after a restart. The same file again gives the same id and is sent once; again: true sends it " +
  "once more. download saves a file where the user has allowed it, and replaces nothing. A refusal has kind, reason and " +
  "next: do what next says. kind tryLater: the same call may work later (after retry_after seconds, if given); " +
  "configuration: only the user can help. Call doctor when calls fail."

const tasks = "io.modelcontextprotocol/tasks"

const OfTask = Schema.standardSchemaV1(Schema.Struct({ taskId: Schema.String }))

/** A transfer as a task: with the result that the call would have had, once it has one. */
const taskOf = (standing: Transfers.TransferStatus) => {
  const { begun: { begunAt, id }, reached, state } = standing
  const answer = answerOf(standing)
  const status = !Transfers.isOver(standing) ? "working" : state === "cancelled" ? "cancelled" : "completed"
  const result = reached?.why === undefined ? answered(answer) : failed(reached.why)
  return {
    taskId: id,
    status,
    result: status === "completed" ? result : undefined,
    statusMessage: answer.message,
    createdAt: new Date(begunAt).toISOString(),
    lastUpdatedAt: new Date(reached?.at ?? begunAt).toISOString(),
    // it is kept for much longer than a client asks for it
    ttlMs: null,
    pollIntervalMs: 2_000
  }
}

const progressOf = ({ mcpReq: { _meta, notify } }: ServerContext): Progress | undefined => {
  const progressToken = _meta?.progressToken
  return progressToken === undefined ? undefined : (standing) => {
    const { message } = answerOf(standing)
    const params = { progressToken, progress: standing.moved, total: standing.size, message }
    return Effect.ignore(Effect.tryPromise(() => notify({ method: "notifications/progress", params })))
  }
}

// What a client of 2026-07-28 says of itself in each request
const WithTasks = Schema.Struct({
  [CLIENT_CAPABILITIES_META_KEY]: Schema.Struct({ extensions: Schema.Struct({ [tasks]: Schema.Object }) })
})

const isWithTasks = Schema.is(WithTasks)

/** Serves until its client closes standard input. */
export const serve = (options: Options) =>
  Effect.gen(function*() {
    if (options.roots.length === 0 && Option.isNone(options.downloads)) {
      return yield* invalid("--root", "give a directory that the agent may read")
    }
    const roots = yield* Roots.make(options)
    const { baseUrl } = yield* Configuration.resolve(options)
    yield* session(roots, baseUrl, process.stdin, process.stdout).pipe(
      Effect.scoped,
      Effect.provide(Configuration.layer(options)),
      Effect.provide(Throttle.layer("mcp", options.limitRate)),
      // no path of this machine that is below no root
      loggedBy(Logger.map(Logger.logfmtLogger, roots.shown))
    )
  })

const broken = refusalOf({ kind: "refused", message: "The tool failed: this is a bug" })

// A client that hears how far it is may wait; most give up after a minute
const longestCall = "45 seconds"

/** Serves one client, until it closes its input. */
export const session = (roots: Roots.Roots, service: string, input: Readable, output: Writable) =>
  Effect.gen(function*() {
    const version = yield* Version.current
    const closed = yield* Deferred.make<void>()
    const transfers = yield* Transfers.make(service, roots)
    const tools = Tools.make(roots, transfers)
    const run = Runtime.runPromise(yield* Effect.runtime<Transfers.Requirements>())

    const call = (name: string, args: Readonly<Record<string, unknown>>, context: ServerContext) =>
      Effect.gen(function*() {
        const tool = yield* Tools.named(tools, name)
        const progress = progressOf(context)
        const takesTask = tool.begins && isWithTasks(context.mcpReq.envelope)
        const most = progress === undefined || takesTask ? "1 second" : longestCall
        const given = yield* tool.call(args, { progress, most, isGone: Deferred.isDone(closed) })
        if (!Transfers.isStanding(given)) return answered(given)
        return takesTask && !Transfers.isOver(given)
          ? { resultType: "task", ...taskOf(given) }
          : answered(answerOf(given))
      }).pipe(
        Effect.catchAll((error) => {
          const refusal = refusalOf(error)
          return Effect.succeed(failed({ ...refusal, reason: roots.shown(refusal.reason) }))
        }),
        Effect.catchAllDefect(() => Effect.succeed(failed(broken)))
      )

    const ofTask =
      <A>(use: (standing: Transfers.TransferStatus) => Effect.Effect<A>) => ({ taskId }: { taskId: string }) =>
        run(Effect.either(Effect.flatMap(transfers.standing(taskId), use))).then(
          Either.getOrThrowWith(({ message }) => new ProtocolError(ProtocolErrorCode.InvalidParams, message))
        )
    const getTask = ofTask((standing) => Effect.succeed(taskOf(standing)))
    const cancelTask = ofTask(({ begun: { id } }) => Effect.as(transfers.cancel(id), {}))

    const made = () => {
      const capabilities = { tools: { listChanged: false }, extensions: { [tasks]: {} } }
      const mcp = new McpServer({ name: "stevedore", version }, { capabilities, instructions })
      const { server } = mcp
      server.setRequestHandler("tools/list", () => ({
        tools: Object.entries(tools).map(([name, { page }]) => ({ name, ...page }))
      }))
      server.setRequestHandler(
        "tools/call",
        { params: Schema.standardSchemaV1(Calling) },
        ({ arguments: args = {}, name }, context) => run(call(name, args, context), { signal: context.mcpReq.signal })
      )
      server.setRequestHandler("tasks/get", { params: OfTask }, getTask)
      server.setRequestHandler("tasks/cancel", { params: OfTask }, cancelTask)
      return mcp
    }

    const end = Deferred.succeed(closed, undefined)
    const lines = transport(input, output, () => void run(end))
    yield* Effect.acquireRelease(
      Effect.sync(() => serveStdio(made, { transport: lines })),
      (serving) =>
        Effect.zipRight(
          end,
          Effect.promise(() => serving.close())
        )
    )
    yield* Deferred.await(closed)
  })
