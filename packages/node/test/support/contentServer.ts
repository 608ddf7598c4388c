import type { HttpClient } from "@effect/platform"
import { RetryPolicy, ServiceProfile } from "@stevedore/core"
import { NodeStevedore } from "@stevedore/node"
import { Effect, Redacted } from "effect"
import { Layer } from "effect"
import type { Socket } from "node:net"
import * as StorageServer from "./storageServer.js"

export interface Settings {
  bytes: Buffer
  etag: string
  mode: "content" | "link"
  ranges: boolean
  /** Whether `If-Match` is heeded. */
  conditions: boolean
  /** Breaks an answer with content, by its number from 0, after so many bytes. */
  cut: (answer: number) => number | undefined
  /** Whether a network's sign-in page comes in place of an answer with content, by its number from 0. */
  page: (answer: number) => boolean
  /** Changes the bytes of an answer with content, by its number from 0. */
  damage: (answer: number, bytes: Buffer) => Buffer
  /** What the storage tells with its content. */
  told: Readonly<Record<string, string>>
  /** Runs before an answer with content, by its number from 0, on a connection that it may break. */
  before: (answer: number, socket: Socket) => void | Promise<void>
  /** Runs when half of the content of an answer is on its way, by its number from 0. */
  halfway: (answer: number) => void | Promise<void>
}

/** A service with one file and the storage that has its content, on one port. */
export const serve = (options: Partial<Settings> & Pick<Settings, "bytes">) =>
  Effect.gen(function*() {
    const settings: Settings = {
      etag: "\"one\"",
      mode: "link",
      ranges: true,
      conditions: true,
      cut: () => undefined,
      page: () => false,
      damage: (_, bytes) => bytes,
      told: {},
      before: () => undefined,
      halfway: () => undefined,
      ...options
    }
    let answers = 0
    let origin = ""
    const server = yield* StorageServer.serve(async ({ received, response, socket }) => {
      if (settings.mode === "link" && !received.target.startsWith("/object")) {
        response.writeHead(200, { "content-type": "application/json" })
          .end(JSON.stringify({ data: { url: `${origin}/object?X-Amz-Signature=abc` } }))
        return
      }
      const number = answers++
      await settings.before(number, socket)
      if (settings.page(number)) {
        response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html>Sign in")
        return
      }
      const { bytes, etag } = settings
      const condition = received.headers["if-match"]
      if (settings.conditions && condition !== undefined && condition !== etag) {
        response.writeHead(412).end()
        return
      }
      const range = settings.ranges ? /^bytes=(\d+)-(\d*)$/.exec(received.headers.range ?? "") : null
      const start = Number(range?.[1] ?? 0)
      const end = Math.min(
        range?.[2] === undefined || range[2] === "" ? Infinity : Number(range[2]) + 1,
        bytes.byteLength
      )
      if (range !== null && start >= bytes.byteLength) {
        response.writeHead(416, { "content-range": `bytes */${bytes.byteLength}` }).end()
        return
      }
      response.writeHead(range === null ? 200 : 206, {
        etag,
        ...settings.told,
        "content-length": end - start,
        ...(range === null ? {} : { "content-range": `bytes ${start}-${end - 1}/${bytes.byteLength}` })
      })
      const cut = settings.cut(number)
      const content = settings.damage(number, bytes.subarray(start, end))
      if (cut === undefined || cut >= content.byteLength) {
        const half = Math.floor(content.byteLength / 2)
        response.write(content.subarray(0, half))
        await settings.halfway(number)
        response.end(content.subarray(half))
      } else response.write(content.subarray(0, cut), () => setTimeout(() => socket.destroy(), 10))
    })
    origin = server.origin
    const config = {
      baseUrl: server.origin,
      token: Redacted.make("api.secret"),
      profile: ServiceProfile.extend(ServiceProfile.standard, { download: settings.mode })
    }
    const policy = RetryPolicy.layer({ attempts: 3, base: "1 millis" })
    const layer = Layer.provide(NodeStevedore.layer(config), policy)
    const layerOver = (client: Layer.Layer<HttpClient.HttpClient>) =>
      NodeStevedore.layerWithoutHttpClient(config).pipe(Layer.provide(client), Layer.provide(policy))
    const contents = () =>
      server.requests.filter(({ target }) => settings.mode === "content" || target.startsWith("/object"))
    return { server, settings, layer, layerOver, contents }
  })
