/** Two instances of the service, of which one is killed while it completes an upload, and the proof that nothing is lost. */
import { FetchHttpClient } from "@effect/platform"
import { Downloads, Lists, ServiceProfile, Uploads, UploadSources } from "@stevedore/core"
import { NodeStevedore } from "@stevedore/node"
import { Identifiers, S3Bucket, Tokens } from "@stevedore/server"
import * as NodeProduction from "@stevedore/server/NodeProduction"
import { Chunk, Console, Data, Deferred, Effect, Redacted, Schema, Stream } from "effect"
import { spawn } from "node:child_process"
import { createServer, request as ask } from "node:http"
import { createRequire } from "node:module"
import { fileURLToPath, pathToFileURL } from "node:url"
import * as Postgres from "../bulk/Postgres.js"
import * as Proxy from "./Proxy.js"
import * as Store from "./Store.js"

export class DemoFailed extends Data.TaggedError("DemoFailed")<{ readonly message: string }> {}

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

const loader = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href

const searchPath = process.env["PATH"]

const MIB = 1024 * 1024

interface Instance {
  readonly origin: string
  readonly kill: Effect.Effect<void>
}

const instance = (env: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.async<Instance, DemoFailed>((resume) => {
      const child = spawn(process.execPath, ["--import", loader, path("./Instance.ts")], {
        env: { PATH: searchPath, TSX_TSCONFIG_PATH: path("../../../tsconfig.json"), PORT: "0", ...env },
        stdio: ["ignore", "pipe", "inherit"]
      })
      child.once("exit", () => resume(new DemoFailed({ message: "An instance has ended before it listened" })))
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        const [, origin] = /listening (\S+)/.exec(text) ?? []
        if (origin !== undefined) {
          resume(Effect.succeed({ origin, kill: Effect.sync(() => void child.kill("SIGKILL")) }))
        }
      })
    }),
    ({ kill }) => kill
  )

/** Between one instance and the store: it tells when the store has completed an upload, and then says no more. */
const wire = (endpoint: string, completed: Deferred.Deferred<void>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<{ readonly origin: string; readonly close: () => void }>((resume) => {
        const { hostname, port } = new URL(endpoint)
        const server = createServer((request, response) => {
          const { headers, method, url = "" } = request
          const there = ask({ hostname, port, method, path: url, headers }, (answer) => {
            if (method === "POST" && url.includes("uploadId=")) {
              Deferred.unsafeDone(completed, Effect.void)
              answer.resume()
              return
            }
            response.writeHead(answer.statusCode ?? 502, answer.headers)
            answer.pipe(response)
          })
          there.on("error", () => response.destroy())
          request.pipe(there)
        })
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          const at = typeof address === "object" && address !== null ? address.port : 0
          const close = () => {
            server.close()
            server.closeAllConnections()
          }
          resume(Effect.succeed({ origin: `http://127.0.0.1:${at}`, close }))
        })
      }),
      ({ close }) => Effect.sync(close)
    ),
    ({ origin }) => origin
  )

const isLarge = (index: number): boolean => index % 3 === 0

const contentOf = (index: number): Uint8Array =>
  new Uint8Array(isLarge(index) ? 12 * MIB + index : 1000 + index).map((_, at) => (at * 31 + index) % 251)

const prove = (isSo: boolean, what: string): Effect.Effect<void, DemoFailed> =>
  isSo ? Console.log(`  proven: ${what}`) : new DemoFailed({ message: `Not so: ${what}` })

/** Uploads so many files. Every third one goes in parts. */
export const demo = (count: number) =>
  Effect.gen(function*() {
    const database = yield* Postgres.start
    const store = yield* Store.start
    const { accessKeyId, endpoint, kmsKeyId, region, secretAccessKey } = store
    const bucket = `stevedore-demo-${process.pid}`
    const encryptionHeaders = {
      "x-amz-server-side-encryption": "aws:kms",
      "x-amz-server-side-encryption-aws-kms-key-id": kmsKeyId
    }
    const place = { endpoint, bucket, credential: { accessKeyId, secretAccessKey, region }, encryptionHeaders }
    yield* S3Bucket.create(place)
    yield* S3Bucket.setup(place, [])
    const completed = yield* Deferred.make<void>()
    const env = (endpoint: string) => ({
      STEVEDORE_SERVE_DATABASE_URL: database,
      STEVEDORE_SERVE_BUCKET: bucket,
      STEVEDORE_SERVE_S3_ENDPOINT: endpoint,
      STEVEDORE_SERVE_S3_PUBLIC_ENDPOINT: store.endpoint,
      STEVEDORE_SERVE_S3_REGION: region,
      STEVEDORE_SERVE_S3_ACCESS_KEY_ID: accessKeyId,
      STEVEDORE_SERVE_S3_SECRET_ACCESS_KEY: Redacted.value(secretAccessKey),
      STEVEDORE_SERVE_KMS_KEY_ID: kmsKeyId
    })
    const first = yield* instance(env(yield* wire(endpoint, completed)))
    const second = yield* instance(env(endpoint))
    const origin = yield* Proxy.start([first.origin, second.origin])
    const { token } = yield* Tokens.create({ tenant: "acme", owner: { id: "ann", name: "Ann" } }).pipe(
      Effect.provide([NodeProduction.tokens(Redacted.make(database)), Identifiers.layerSecure])
    )
    yield* Console.log(`A PostgreSQL, an object store, two instances, a proxy, and ${count} files.\n`)
    yield* Effect.fork(
      Effect.zipRight(
        Deferred.await(completed),
        Effect.zipRight(
          first.kill,
          Console.log("  The first instance is killed: the store has completed an upload, and no row says so.")
        )
      )
    )
    yield* Effect.gen(function*() {
      const indices = Array.from({ length: count }, (_, index) => index)
      const files = yield* Effect.forEach(
        indices,
        (index) =>
          Uploads.upload(
            UploadSources.fromBytes(`recording-${index}.bin`, contentOf(index)),
            isLarge(index) ? { threshold: 5 * MIB, parts: 2 } : {}
          ),
        { concurrency: 4 }
      )
      yield* Console.log("")
      yield* prove(yield* Deferred.isDone(completed), "an instance was killed in the middle of Complete")
      const listed = yield* Stream.runCollect(
        Lists.make({ path: "/v1/files", item: Schema.Struct({ id: Schema.String, name: Schema.String }) })({})
      )
      const names = Chunk.toReadonlyArray(listed).map(({ name }) => name).sort()
      const wanted = indices.map((index) => `recording-${index}.bin`).sort()
      yield* prove(names.join() === wanted.join(), `each of the ${count} files is at the service, and is there once`)
      const same = yield* Effect.forEach(files, ({ id }, index) =>
        Effect.map(Stream.runCollect(Downloads.stream(id)), (chunks) =>
          Buffer.concat(Chunk.toReadonlyArray(chunks)).equals(contentOf(index))), { concurrency: 4 })
      yield* prove(
        same.every((is) =>
          is
        ),
        "each has the bytes that it had here"
      )
    }).pipe(Effect.provide(NodeStevedore.layer({
      baseUrl: origin,
      token,
      ledger: false,
      allowInsecureHttp: true,
      profile: ServiceProfile.extend(ServiceProfile.standard, {
        encryptionHeaders: { ...encryptionHeaders, "if-none-match": "*" },
        download: "link"
      })
    })))
  }).pipe(Effect.scoped, Effect.provide(FetchHttpClient.layer))
