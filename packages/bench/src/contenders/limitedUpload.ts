/**
 * `<base URL> <file> <connections> <bytes per second>`: one upload within a bandwidth limit. Writes the fewest and the most
 * bytes of any ten seconds, as handed to the kernel, and those of a mean ten seconds.
 */
import * as BandwidthLimit from "@stevedore/core/BandwidthLimit"
import * as ObjectStorage from "@stevedore/core/ObjectStorage"
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import * as Uploads from "@stevedore/core/Uploads"
import * as FileSource from "@stevedore/node/FileSource"
import * as NodeStevedore from "@stevedore/node/NodeStevedore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

const [baseUrl, file = "", ...numbers] = process.argv.slice(2)
const [connections = 1, rate = 0] = numbers.map(Number)

const passed: Array<{ readonly at: number; readonly bytes: number }> = []

const noting = Layer.effect(
  ObjectStorage.ObjectStorage,
  Effect.map(ObjectStorage.ObjectStorage, (storage): ObjectStorage.Service => ({
    ...storage,
    put: (request) =>
      storage.put({
        ...request,
        onSent: (bytes) => {
          passed.push({ at: performance.now(), bytes })
          request.onSent(bytes)
        }
      })
  }))
)

const stevedore = NodeStevedore.layer({
  baseUrl,
  token: Redacted.make("api.loopback"),
  profile: ServiceProfile.extend(ServiceProfile.standard, { limits: { minimumPartSize: 1 } }),
  ledger: false,
  limit: connections,
  adaptive: false
}).pipe(Layer.provide(BandwidthLimit.layer({ rate })))

await Effect.flatMap(FileSource.fromPath(file), (source) =>
  Uploads.upload(source, {
    concurrency: connections,
    ...(connections === 1 ? { strategy: "single" } : { strategy: "multipart", parts: 4 * connections })
  })).pipe(
    Effect.provide(Layer.provideMerge(noting, stevedore)),
    Effect.runPromise
  )

const window = 10_000
const [first, last] = [passed[0]?.at ?? 0, passed.at(-1)?.at ?? 0]
const sums: Array<number> = []
let end = 0
let sum = 0
for (const { at, bytes } of passed) {
  if (at + window > last) break
  for (let next = passed[end]; next !== undefined && next.at < at + window; next = passed[++end]) sum += next.bytes
  sums.push(sum)
  sum -= bytes
}
const all = passed.reduce((total, { bytes }) => total + bytes, 0)
const most = sums.reduce((one, other) => Math.max(one, other), 0)
const least = sums.reduce((one, other) => Math.min(one, other), Infinity)
process.stdout.write(`${least} ${most} ${all / (last - first) * window}`)
