/** The server of `stevedore mcp`, on standard input and output. */
import * as McpServer from "@effect/ai/McpServer"
import * as NodeSink from "@effect/platform-node/NodeSink"
import * as NodeStream from "@effect/platform-node/NodeStream"
import type { ErrorKind } from "@stevedore/core/ErrorKind"
import { projects } from "@stevedore/core/Lists"
import * as Measure from "@stevedore/core/parts/measure"
import { ServiceApi } from "@stevedore/core/ServiceApi"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Configuration from "../connection/configuration.js"
import * as Politeness from "../connection/politeness.js"
import * as Lists from "../list/list.js"
import { invalid } from "../options/invalidInput.js"
import { loggedBy } from "../print/output.js"
import * as Version from "../print/version.js"
import type { Options } from "./options.js"
import { type Refused, refused } from "./refused.js"
import { registered } from "./register.js"
import * as Roots from "./roots.js"
import { tools, type TransferReport } from "./tools.js"
import * as Transfers from "./transfers.js"

const nextOf: Readonly<Record<ErrorKind, string>> = {
  input: "Change what the call names, or tell the user.",
  tryLater: "Try the same call again in a minute.",
  configuration: "Tell the user: the token, its permissions or the settings of this server are wrong.",
  outcomeUnknown: "Ask for the list or the file before you begin it again.",
  refused: "Change what the call names, or tell the user."
}

const words = {
  waiting: "waits for its turn",
  moving: "is on its way",
  done: "is done",
  failed: "has failed",
  cancelled: "was stopped"
} as const

const rounded = (value: number | undefined): number | undefined =>
  value === undefined || !Number.isFinite(value) ? undefined : Math.round(value)

const reportOf = (id: string, standing: Transfers.Standing): TransferReport => {
  const { fileId, moved, reason, secondsLeft, size, speed, state } = standing
  const left = rounded(secondsLeft)
  const amount = state === "moving" && size !== undefined ? `, ${Measure.percent(moved, size)} %` : ""
  const time = left === undefined ? "" : `, about ${Measure.duration(Duration.seconds(left))} left`
  const why = reason === undefined ? "" : `: ${reason.slice(0, 300)}`
  const where = fileId === undefined ? "" : `, as file ${fileId}`
  return {
    id,
    state,
    message: `${id} ${words[state]}${amount}${time}${where}${why}`,
    ...(size === undefined ? {} : { bytes: moved, size }),
    ...(speed === undefined ? {} : { bytes_per_second: Math.round(speed) }),
    ...(left === undefined ? {} : { seconds_left: left }),
    ...(fileId === undefined ? {} : { file_id: fileId })
  }
}

// A tenth more of it, another state, or another reason
const newsOf = ({ moved, reason, size = 0, state }: Transfers.Standing): string =>
  `${state} ${Math.floor(Measure.percent(moved, size) / 10)} ${reason ?? ""}`

const soon = Duration.seconds(1)

const handlers = (options: Options, roots: Roots.Roots, service: string) =>
  tools.toLayer(Effect.gen(function*() {
    const transfers = yield* Transfers.make(service, roots)
    const api = yield* ServiceApi
    const context = yield* Effect.context<Transfers.Requirements>()

    const failed = (error: Refused | { readonly kind: ErrorKind; readonly message: string }) =>
      "next" in error
        ? { reason: roots.shown(error.reason), next: error.next }
        : { reason: roots.shown(error.message), next: nextOf[error.kind] }

    const answer = <A, E extends Refused | { readonly kind: ErrorKind; readonly message: string }>(
      call: Effect.Effect<A, E, Transfers.Requirements>
    ) => Effect.provide(Effect.mapError(call, failed), context)

    const standing = (id: string) =>
      Effect.flatMap(
        transfers.standing(id),
        Option.match({
          onNone: () => Effect.fail(Transfers.unknown(id)),
          onSome: Effect.succeed
        })
      )

    const report = (id: string, wait: Duration.Duration) =>
      Effect.gen(function*() {
        const first = yield* standing(id)
        const isNews = (now: Transfers.Standing) => Transfers.isOver(now) || newsOf(now) !== newsOf(first)
        yield* Effect.repeat(Effect.delay(standing(id), "100 millis"), { until: isNews }).pipe(
          Effect.timeoutOption(wait),
          Effect.unless(() => Transfers.isOver(first))
        )
        return reportOf(id, yield* standing(id))
      })

    const begun = (id: Effect.Effect<string, Refused, Transfers.Requirements>) =>
      answer(Effect.flatMap(id, (id) => report(id, soon)))

    return {
      upload: ({ name, path, project }) =>
        begun(Effect.flatMap(roots.find(path), (place) => transfers.upload({ place, name, project }))),
      upload_status: ({ id, wait = 10 }) => answer(report(id, Duration.seconds(wait))),
      cancel: ({ id }) =>
        answer(Effect.zipRight(standing(id), Effect.zipRight(transfers.cancel(id), report(id, Duration.zero)))),
      list: ({ cursor, limit = 8, list }) =>
        answer(Effect.gen(function*() {
          const { page } = yield* Effect.mapError(
            Lists.listOf(list),
            ({ problem }) => refused(problem.slice(0, 300), "Name one of the lists.")
          )
          const { items, nextCursor } = yield* page({ cursor, pageSize: limit })
          const shown = items.map(Lists.row).map(([id = "", title = ""]) => ({ id, title: title.slice(0, 40) }))
          const end = nextCursor === undefined ? "No more." : "More at next."
          return {
            items: shown,
            ...(nextCursor === undefined ? {} : { next: nextCursor }),
            message: [...shown.map(({ id, title }) => `${id} ${title}`), end].join("\n")
          }
        })),
      file: ({ file_id }) =>
        answer(Effect.map(api.file(file_id), ({ created_at, id, name, size, status, type }) => ({
          id,
          message: `${id}: ${name?.slice(0, 200) ?? "no name"}${size === undefined ? "" : `, ${size} bytes`}, ${
            status ?? "no status"
          }`,
          ...(name === undefined ? {} : { name: name.slice(0, 200) }),
          ...(type === undefined ? {} : { type }),
          ...(size === undefined ? {} : { size }),
          ...(status === undefined ? {} : { status }),
          ...(created_at === undefined ? {} : { created_at })
        }))),
      download: ({ file_id, path }) =>
        answer(Effect.gen(function*() {
          yield* roots.target(path ?? "any", "any")
          const { name, size } = yield* api.file(file_id)
          const target = yield* roots.target(path, name ?? file_id)
          return yield* report(yield* transfers.download(file_id, target, size), soon)
        })),
      doctor: () =>
        answer(Effect.gen(function*() {
          yield* projects.page({ pageSize: 1 })
          const running = yield* transfers.running
          return {
            message: `The service answers, and takes the token. ${running} transfers are under way.`,
            roots: options.roots.length,
            downloads: Option.isSome(options.downloads),
            running
          }
        }))
    }
  }))

/** Serves until its client closes standard input. */
export const serve = (options: Options) =>
  Effect.gen(function*() {
    if (options.roots.length === 0 && Option.isNone(options.downloads)) {
      return yield* invalid("--root", "give a directory that the agent may read")
    }
    const roots = yield* Roots.make({ ...options, downloads: Option.getOrUndefined(options.downloads) })
    const { baseUrl } = yield* Configuration.resolve(options)
    const closed = yield* Deferred.make<void>()
    const stdio = McpServer.layerStdio({
      name: "stevedore",
      version: yield* Version.current,
      stdin: Stream.ensuring(NodeStream.stdin, Deferred.succeed(closed, undefined)),
      stdout: NodeSink.stdout
    })
    const server = Layer.effectDiscard(registered).pipe(
      Layer.provide(stdio),
      Layer.provide(handlers(options, roots, baseUrl)),
      Layer.provide(Configuration.layer(options)),
      Layer.provide(Politeness.layer("mcp", options.limitRate))
    )
    yield* Effect.raceFirst(Layer.launch(server), Deferred.await(closed)).pipe(
      // no path of this machine that is below no root
      loggedBy(Logger.map(Logger.logfmtLogger, roots.shown))
    )
  })
