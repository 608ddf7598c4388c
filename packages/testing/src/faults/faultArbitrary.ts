import * as Duration from "effect/Duration"
import * as FastCheck from "effect/FastCheck"
import * as Fault from "../Fault.js"
import * as FaultRule from "../FaultRule.js"

export interface Options {
  readonly targets?: ReadonlyArray<FaultRule.Target> | undefined
  readonly rules?: number | undefined
  readonly parts?: number | undefined
  readonly bytes?: number | undefined
  readonly longest?: Duration.DurationInput | undefined
}

const uploadTargets: ReadonlyArray<FaultRule.Target> = [
  "initiate",
  "put",
  "putSingle",
  "putPart",
  "complete",
  "completeLarge",
  "file"
]

const answers = (pairs: ReadonlyArray<readonly [number, string | undefined]>) =>
  FastCheck.constantFrom(...pairs).map(([status, code]) =>
    new Fault.Answer({ status, ...(code === undefined ? {} : { code }) })
  )

const storageAnswers = answers([
  [200, "InternalError"],
  [400, "RequestTimeout"],
  [400, "ExpiredToken"],
  [403, "AccessDenied"],
  [403, "SignatureDoesNotMatch"],
  [404, "NoSuchUpload"],
  [409, "OperationAborted"],
  [412, "PreconditionFailed"],
  [429, "SlowDown"],
  [500, "InternalError"],
  [502, undefined],
  [503, "SlowDown"],
  [503, "ServiceUnavailable"]
])

const serviceAnswers = answers(
  [400, 401, 403, 404, 409, 422, 429, 500, 502, 503, 504].map((status) => [status, undefined] as const)
)

const retryAfter = (status: number) =>
  FastCheck.constantFrom("0", "1", "7", "soon").map((value) => new Fault.Answer({ status, retryAfter: value }))

const anyFault = (options: Options, duration: FastCheck.Arbitrary<Duration.Duration>) => {
  const afterBytes = FastCheck.nat(options.bytes ?? 64)
  return [
    FastCheck.constantFrom(403, 500, 502, 503, 504).map((status) => new Fault.Html({ status })),
    FastCheck.constant(new Fault.LoseAnswer()),
    FastCheck.constant(new Fault.Reset({})),
    afterBytes.map((bytes) => new Fault.Reset({ afterBytes: bytes })),
    FastCheck.tuple(FastCheck.constantFrom(...Fault.StallPhase.literals), afterBytes)
      .map(([phase, bytes]) => new Fault.Stall(phase === "body" ? { phase, afterBytes: bytes } : { phase })),
    duration.map((value) => new Fault.Delay({ duration: value }))
  ]
}

const storageFaults = (duration: FastCheck.Arbitrary<Duration.Duration>) => [
  storageAnswers,
  retryAfter(503),
  FastCheck.constant(new Fault.OmitEtag()),
  FastCheck.constant(new Fault.Expire()),
  duration.map((value) => new Fault.SlowDown({ duration: value }))
]

const pageFaults = [
  FastCheck.constantFrom(
    new Fault.RepeatCursor(),
    new Fault.EmptyPage(),
    new Fault.DropCursor(),
    new Fault.CorruptPage(),
    new Fault.DenyMore(),
    new Fault.RejectCursor(),
    new Fault.ItemAppears(),
    new Fault.ItemVanishes()
  ),
  FastCheck.integer({ min: 1, max: 20 }).map((items) => new Fault.ShortPage({ items }))
]

// whole seconds, which read better, if there is room for one
const durationUpTo = (millis: number): FastCheck.Arbitrary<Duration.Duration> =>
  millis < 1000
    ? FastCheck.integer({ min: Math.min(1, millis), max: millis }).map(Duration.millis)
    : FastCheck.integer({ min: 1, max: Math.floor(millis / 1000) }).map(Duration.seconds)

const faultOf = (target: FaultRule.Target, options: Options): FastCheck.Arbitrary<Fault.Fault> => {
  const duration = durationUpTo(Math.floor(Duration.toMillis(options.longest ?? "30 seconds")))
  const atStorage = FaultRule.isAtStorage(target)
  return FastCheck.oneof<Array<FastCheck.Arbitrary<Fault.Fault>>>(
    ...anyFault(options, duration),
    ...(atStorage ? storageFaults(duration) : [serviceAnswers, retryAfter(429)]),
    ...(target === "list" ? pageFaults : []),
    duration.map((value) => new Fault.LandLate({ duration: value }))
  ).filter((fault) => FaultRule.isFitting(target, fault))
}

/** Rules that end, each about a few requests. */
export const rules = (options: Options = {}): FastCheck.Arbitrary<ReadonlyArray<FaultRule.Rule>> => {
  const parts = FastCheck.option(FastCheck.integer({ min: 1, max: options.parts ?? 4 }), { nil: undefined })
  const rule = FastCheck.constantFrom(...(options.targets ?? uploadTargets)).chain((target) =>
    FastCheck.tuple(FastCheck.nat(3), FastCheck.integer({ min: 1, max: 4 }), faultOf(target, options), parts).map(
      ([skip, times, fault, part]): FaultRule.Rule => ({
        target,
        skip,
        times,
        fault,
        ...(target === "putPart" && part !== undefined ? { part } : {})
      })
    )
  )
  return FastCheck.array(rule, { maxLength: options.rules ?? 4 })
}
