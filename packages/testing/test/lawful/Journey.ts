import {
  Downloads,
  Files,
  Lists,
  ServiceApi,
  UploadLedger,
  type UploadOptions,
  Uploads,
  type UploadSource,
  UploadSources
} from "@stevedore/core"
import {
  Cause,
  Chunk,
  Deferred,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  LogLevel,
  Option,
  Predicate,
  Schema,
  Stream
} from "effect"
import { gunzipSync, inflateRawSync, inflateSync } from "node:zlib"
import { FaultScript, Sandbox, SandboxLayer, VirtualTime } from "../../src/index.js"
import * as ServiceVariation from "../variation/ServiceVariation.js"
import * as Varied from "../variation/varied.js"

/** What a service did not let a client do. */
export interface Finding {
  readonly step: string
  readonly what: string
}

class Wrong extends Schema.TaggedError<Wrong>()("Wrong", { message: Schema.String }) {}

const wrong = (message: string) => new Wrong({ message })

const bytesOf = (size: number, seed: number): Uint8Array =>
  Uint8Array.from({ length: size }, (_, index) => (Math.imul(index + seed * 7919 + 1, 2_654_435_761) >>> 13) & 0xff)

const sourceOf = (name: string, size: number, seed: number): UploadSource => ({
  ...UploadSources.fromBytes(name, bytesOf(size, seed), { mediaType: "video/mp4" }),
  fingerprint: { kind: "file", size, modified: 1000.5, identity: `${seed}:${name}` }
})

const isSame = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, index) => byte === other[index])

const read = (fileId: string, range?: { readonly offset: number; readonly length?: number }) =>
  Effect.map(
    Stream.runCollect(Downloads.stream(fileId, range === undefined ? {} : { range })),
    (chunks) => Uint8Array.from(Chunk.toReadonlyArray(chunks).flatMap((chunk) => [...chunk]))
  )

const expectSame = (what: string, got: Uint8Array, expected: Uint8Array) =>
  isSame(got, expected) ? Effect.void : wrong(`${what}: ${got.length} bytes, not the ${expected.length} of the source`)

const uploaded = (
  source: UploadSource,
  bytes: Uint8Array,
  { readBack = false, ...options }: UploadOptions.UploadOptions & { readonly readBack?: boolean }
) =>
  Effect.gen(function*() {
    const upload = Uploads.upload(source, options)
    const file = yield* readBack ? Uploads.readBack(source)(upload) : upload
    if (file.name !== source.name || file.size !== source.size) {
      return yield* wrong(`the result has the name ${file.name} and the size ${file.size}`)
    }
    yield* expectSame("storage", yield* Sandbox.stored(file.id), bytes)
    return file.id
  })

/** A ledger whose upload stops for good after as many receipts, or when everything but its Complete is done. */
const stopping = (
  ledger: UploadLedger.Service,
  after: number,
  stopped: Deferred.Deferred<void>
): UploadLedger.Service => {
  const stop = Effect.zipRight(Deferred.succeed(stopped, undefined), Effect.never)
  let received = 0
  return {
    ...ledger,
    receive: (record, receipt) => Effect.suspend(() => received++ < after ? ledger.receive(record, receipt) : stop),
    completing: (record) => Effect.zipRight(ledger.completing(record), stop)
  }
}

const resumed = (name: string, options: { readonly after: number; readonly hours: number }) =>
  Effect.gen(function*() {
    const source = sourceOf(name, 600, options.after)
    const ledger = yield* UploadLedger.makeMemory()
    const stopped = yield* Deferred.make<void>()
    const wishes: UploadOptions.UploadOptions = { strategy: "multipart", parts: 4 }
    const first = yield* Effect.fork(
      Effect.provideService(
        Uploads.upload(source, wishes),
        UploadLedger.UploadLedger,
        stopping(ledger, options.after, stopped)
      )
    )
    yield* Effect.raceFirst(
      Deferred.await(stopped),
      Effect.zipRight(Fiber.join(first), wrong("the first process was not stopped"))
    )
    yield* Fiber.interrupt(first)
    yield* Effect.sleep(`${options.hours} hours`)
    yield* Effect.provideService(
      uploaded(source, bytesOf(600, options.after), wishes),
      UploadLedger.UploadLedger,
      ledger
    )
  })

// a field that is not typed is kept as it came
const serialOf = (item: unknown): unknown =>
  Predicate.hasProperty(item, "extra") && Predicate.hasProperty(item.extra, "serial")
    ? item.extra.serial
    : Predicate.hasProperty(item, "serial")
    ? item.serial
    : undefined

const expectItems = (items: ReadonlyArray<unknown>, expected: number) => {
  const serials = items.map(serialOf)
  const all = Array.from({ length: expected }, (_, index) => expected - 1 - index)
  return JSON.stringify(serials) === JSON.stringify(all)
    ? Effect.void
    : wrong(`the items ${JSON.stringify(serials)} of ${expected}`)
}

type Step = readonly [string, Effect.Effect<unknown, unknown, SandboxLayer.SandboxLayer>]

const resumes = [
  ["resume after two parts", { after: 2, hours: 0 }],
  ["resume before Complete", { after: 50, hours: 0 }],
  ["resume after the URLs have expired", { after: 1, hours: 4 }]
] as const

const chosen = <A>(among: ReadonlyArray<A>, { seed }: ServiceVariation.ServiceVariation): ReadonlyArray<A> =>
  among.filter((_, index) => index === seed % among.length)

const itemsOf = <E, R>(walk: Stream.Stream<unknown, E, R>, expected: number) =>
  Effect.flatMap(Stream.runCollect(walk), (all) => expectItems(Chunk.toReadonlyArray(all), expected))

/** Everything that a client does at a service. One of the ways to resume, and of those to upload, is chosen by the seed. */
const steps = (variation: ServiceVariation.ServiceVariation): ReadonlyArray<Step> => {
  const { lists: { items }, seed } = variation
  const small = sourceOf("notes, ü.txt", 60, seed)
  const film = sourceOf("film.mp4", 1000, seed)
  const smallBytes = bytesOf(60, seed)
  const filmBytes = bytesOf(1000, seed)
  let smallId = "nothing was uploaded"
  let filmId = smallId
  const wishes = chosen([{ parts: 4 }, {}, { readBack: true }], variation)[0]
  return [
    [
      "upload a small file",
      Effect.map(uploaded(small, smallBytes, {}), (id) => {
        smallId = id
      })
    ],
    [
      "upload a large file",
      Effect.map(uploaded(film, filmBytes, { strategy: "multipart", ...wishes }), (id) => {
        filmId = id
      })
    ],
    ...chosen(resumes, variation).map(([name, when]): Step => [name, resumed("resumed.mp4", when)]),
    [
      "download",
      Effect.gen(function*() {
        yield* expectSame("the whole", yield* read(filmId), filmBytes)
        yield* expectSame("a range", yield* read(filmId, { offset: 100, length: 50 }), filmBytes.subarray(100, 150))
        yield* expectSame("the end", yield* read(filmId, { offset: 990 }), filmBytes.subarray(990))
      })
    ],
    ["inspect", Effect.suspend(() => Files.inspect(smallId))],
    [
      "inspect a file that does not exist",
      Effect.flatMap(
        Effect.exit(Files.inspect("nothing")),
        (exit) =>
          Exit.isFailure(exit) && Option.isSome(Cause.failureOption(exit.cause))
            ? Effect.void
            : wrong("did not fail as expected")
      )
    ],
    ...chosen<Step>([
      ["list all items", itemsOf(Lists.projects(), items)],
      ["list in pages of three", itemsOf(Lists.projects({ pageSize: 3 }), items)],
      [
        "list pages",
        itemsOf(Stream.mapConcat(Lists.projects.pages({ pageSize: 7 }), (page) => page.items), items)
      ]
    ], variation),
    [
      "the token",
      Effect.flatMap(
        Effect.flatMap(ServiceApi.ServiceApi, (service) => Effect.exit(service.tokenInfo)),
        (exit) =>
          Exit.isSuccess(exit) || Option.isSome(Cause.failureOption(exit.cause))
            ? Effect.void
            : wrong("is a defect")
      )
    ],
    ["no breach", Sandbox.expectNoBreach]
  ]
}

const told = (cause: Cause.Cause<unknown>): string =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => `defect: ${Cause.pretty(cause).slice(0, 1500)}`,
    onSome: (error) => {
      const tag = Predicate.hasProperty(error, "_tag") ? String(error._tag) : "error"
      return `${tag}: ${Predicate.hasProperty(error, "message") ? String(error.message) : String(error)}`
    }
  })

const taken = (given: ReadonlyArray<Step>) =>
  Effect.map(
    Effect.forEach(given, ([step, program]) =>
      Effect.map(Effect.exit(program), (exit): ReadonlyArray<Finding> =>
        Exit.isSuccess(exit) ? [] : [{ step, what: told(exit.cause) }])),
    (findings) =>
      findings.flat()
  )

const layer = (variation: ServiceVariation.ServiceVariation, options: SandboxLayer.Options = {}) =>
  Layer.mergeAll(
    SandboxLayer.memory({
      ...Varied.options(variation),
      profile: ServiceVariation.profile(variation),
      ...options
    }),
    Logger.minimumLogLevel(LogLevel.None)
  )

const loses = FaultScript.on("completeSingle").loseAnswer().and(FaultScript.on("completeLarge").loseAnswer())

const begin = Date.UTC(2026, 0, 5, 12)

const lost: ReadonlyArray<Step> = [
  ["upload a small file, the answer to Complete lost", uploaded(sourceOf("lost.txt", 60, 1), bytesOf(60, 1), {})],
  [
    "upload a large file, the answer to Complete lost",
    uploaded(sourceOf("lost.mp4", 600, 1), bytesOf(600, 1), { strategy: "multipart", parts: 3 })
  ]
]

const inflate = { gzip: gunzipSync, deflate: inflateSync, "deflate-raw": inflateRawSync } as const

/** The platform's decoder of codings works in another thread, for which a clock that jumps does not wait. */
class AtOnce extends TransformStream<Uint8Array, Uint8Array> {
  constructor(format: CompressionFormat) {
    const pieces: Array<Uint8Array> = []
    super({
      transform: (piece) => {
        pieces.push(piece)
      },
      flush: (controller) => controller.enqueue(new Uint8Array(inflate[format](Buffer.concat(pieces))))
    })
  }
}

const decodingAtOnce = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const { DecompressionStream } = globalThis
      Object.assign(globalThis, { DecompressionStream: AtOnce })
      return DecompressionStream
    }),
    () => effect,
    (DecompressionStream) => Effect.sync(() => Object.assign(globalThis, { DecompressionStream }))
  )

/** What this service did not let a client do that a service must. */
export const findings = (variation: ServiceVariation.ServiceVariation): Effect.Effect<ReadonlyArray<Finding>> =>
  Effect.all([
    VirtualTime.run(taken(steps(variation)), { start: begin }).pipe(Effect.provide(layer(variation))),
    VirtualTime.run(taken(chosen(lost, variation)), { start: begin }).pipe(
      Effect.provide(layer(variation, { faults: loses }))
    )
  ]).pipe(
    Effect.map((all) => all.flat()),
    Effect.catchAllCause((cause) => Effect.succeed([{ step: "the sandbox", what: told(cause) }])),
    Effect.withTracerEnabled(false),
    decodingAtOnce
  )

const groups = ["session", "completion", "records", "storage", "download", "lists", "answers", "open"] as const

/** The fewest differences from the plain sandbox with which some step still fails in the same way. */
export const fewest = (variation: ServiceVariation.ServiceVariation, step: string) =>
  Effect.gen(function*() {
    const { plain } = ServiceVariation
    const fails = (tried: ServiceVariation.ServiceVariation) =>
      Effect.map(findings(tried), (found) => found.some((finding) => finding.step === step))
    let kept = variation
    const tryWith = (tried: ServiceVariation.ServiceVariation) =>
      Effect.map(fails(tried), (still) => {
        if (still) kept = tried
      })
    for (const group of groups) {
      yield* tryWith({ ...kept, [group]: plain[group] })
      for (const axis of Object.keys(plain[group])) {
        const usual = Object.entries(plain[group]).find(([name]) => name === axis)?.[1]
        yield* tryWith({ ...kept, [group]: { ...kept[group], [axis]: usual } })
      }
    }
    yield* tryWith({ ...kept, tokenInfo: plain.tokenInfo })
    return differences(kept)
  })

/** In what a service differs from the plain sandbox. */
export const differences = (variation: ServiceVariation.ServiceVariation): Readonly<Record<string, unknown>> => {
  const { plain } = ServiceVariation
  const all = groups.flatMap((group) =>
    Object.entries(variation[group]).flatMap(([axis, value]) => {
      const usual = Object.entries(plain[group]).find(([name]) => name === axis)?.[1]
      return JSON.stringify(usual) === JSON.stringify(value) ? [] : [[`${group}.${axis}`, value] as const]
    })
  )
  return Object.fromEntries([
    ...all,
    ...(variation.tokenInfo === plain.tokenInfo ? [] : [["tokenInfo", variation.tokenInfo] as const])
  ])
}
