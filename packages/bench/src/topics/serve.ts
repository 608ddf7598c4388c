import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { mkdtemp } from "node:fs/promises"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { home, node, script as scriptOf } from "../Command.js"
import * as Contenders from "../Contenders.js"
import { inOrderOf } from "../Contest.js"
import * as Markdown from "../Markdown.js"
import { type Command, ContenderFailed, cpuOf, started } from "../Processes.js"
import { summary } from "../Statistics.js"
import type { Topic } from "../Topic.js"

const uploads = 400
const atOnce = 8
const body = new Uint8Array(4096).fill(7)

const Said = Schema.parseJson(Schema.Struct({ api: Schema.String, token: Schema.optional(Schema.String) }))

type Said = typeof Said.Type

/** A service, how a small file gets into it, and by how many requests. */
interface Service {
  readonly title: string
  readonly requests: number
  readonly command: (directory: string) => Command
  readonly upload: (said: Said) => Promise<void>
}

const answered = async (url: string, init: RequestInit): Promise<Response> => {
  const response = await fetch(url, init)
  if (response.status >= 300) throw new Error(`${init.method} ${response.status}: ${await response.text()}`)
  return response
}

const Opened = Schema.parseJson(Schema.Struct({
  data: Schema.Struct({ id: Schema.String, upload_url: Schema.String })
}))

const stevedoreUpload = async ({ api, token = "" }: Said): Promise<void> => {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  const post = (path: string, value: unknown) =>
    answered(`${api}${path}`, { method: "POST", headers, body: JSON.stringify(value) })
  const opened = await post("/v2/files/upload", {
    name: "a.bin",
    type: "application/octet-stream",
    size: body.length
  })
  const { data } = Schema.decodeSync(Opened)(await opened.text())
  await answered(data.upload_url, {
    method: "PUT",
    headers: { "content-type": "application/octet-stream", "x-amz-server-side-encryption": "aws:kms" },
    body
  })
  await (await post(`/v2/files/${data.id}/upload/complete`, {})).text()
}

const tusUpload = async ({ api }: Said): Promise<void> => {
  const tus = { "tus-resumable": "1.0.0" }
  const opened = await answered(api, { method: "POST", headers: { ...tus, "upload-length": String(body.length) } })
  await answered(opened.headers.get("location") ?? "", {
    method: "PATCH",
    headers: { ...tus, "upload-offset": "0", "content-type": "application/offset+octet-stream" },
    body
  })
}

/** The milliseconds of its processor for each small file, once it is warm. */
const measured = (service: Service, directory: string) =>
  Effect.gen(function*() {
    const child = yield* started(service.command(directory))
    const said = yield* Effect.tryPromise({
      try: async () => {
        for await (const line of createInterface({ input: child.stdout })) return Schema.decodeSync(Said)(line)
        throw new Error("it has ended")
      },
      catch: (error) => new ContenderFailed({ message: `${service.title}: ${String(error)}` })
    })
    const round = Effect.forEach(
      Array.from({ length: uploads }),
      () =>
        Effect.tryPromise({
          try: () => service.upload(said),
          catch: (error) => new ContenderFailed({ message: `${service.title}: ${String(error)}` })
        }),
      { concurrency: atOnce, discard: true }
    )
    yield* round
    const before = cpuOf(child.pid ?? 0)
    yield* round
    return (cpuOf(child.pid ?? 0) - before) * 1000 / uploads
  }).pipe(Effect.scoped)

export const serve: Topic = {
  name: "serve",
  run: (setting) =>
    Effect.gen(function*() {
      const { script, what } = yield* scriptOf(setting)
      const services: ReadonlyArray<Service> = [
        {
          title: "`@tus/server` with its FileStore",
          requests: 2,
          command: (directory) => Contenders.program(setting, "tusServer", "", [directory]),
          upload: tusUpload
        },
        {
          title: `**stevedore** \`serve\` over a directory, ${what}`,
          requests: 3,
          command: (directory) =>
            node(
              "",
              [script, "serve", "--port", "0", "--json", "--log-level", "warning", "--directory", directory],
              home(setting)
            ),
          upload: stevedoreUpload
        }
      ]
      const rounds = yield* Effect.forEach(Array.from({ length: setting.runs }, (_, index) => index + 1), (round) =>
        Effect.forEach(inOrderOf(round, services), (service) =>
          Effect.gen(function*() {
            const directory = yield* Effect.promise(() =>
              mkdtemp(join(setting.folder, "serve-"))
            )
            return { service, millis: yield* measured(service, directory) }
          })))
      const figures = services.map((service) => ({
        service,
        millis: summary(rounds.flat().flatMap((one) => one.service === service ? [one.millis] : []))
      }))
      const [tus, ours] = figures.map(({ millis, service }) => millis.median / service.requests)
      return {
        title: "A service over a directory",
        conditions: `${uploads} files of 4 KiB, ${atOnce} at a time, after as many to warm up; ${setting.runs} runs ` +
          "each, in turns. The time is that of the service's processor.",
        body: Markdown.table(
          ["", "CPU a file, ms", "requests a file", "CPU a request, ms", "×"],
          figures.map(({ millis, service }) => [
            service.title,
            Markdown.spread(millis),
            String(service.requests),
            Markdown.number(millis.median / service.requests),
            Markdown.number(millis.median / service.requests / (tus ?? NaN))
          ])
        ),
        goals: [{
          title: "a request of a small upload against `@tus/server`: CPU",
          safe: 2,
          aim: 1.5,
          measured: (ours ?? NaN) / (tus ?? NaN)
        }]
      }
    })
}
