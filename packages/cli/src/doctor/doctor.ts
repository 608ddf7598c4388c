/** `stevedore doctor`: tries every step of an upload, one after the other, and says what to do if one fails. */
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import * as FileSystem from "@effect/platform/FileSystem"
import * as RetryPolicy from "@stevedore/core/RetryPolicy"
import type { ServiceWithToken } from "@stevedore/core/ServiceConfig"
import * as Findings from "@stevedore/node/Diagnosis"
import type { HttpProxy } from "@stevedore/node/HttpProxy"
import * as NodeStevedore from "@stevedore/node/NodeStevedore"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Configuration from "../connection/configuration.js"
import * as Proxy from "../connection/proxy.js"
import { invalid, type InvalidInput } from "../options/invalidInput.js"
import * as DoctorReport from "../print/doctorReport.js"
import { Output } from "../print/output.js"
import * as PlatformWords from "../print/platformWords.js"
import type { CheckReport, Diagnosis } from "../print/serviceSchemas.js"
import * as ProfileFile from "../profile/file.js"
import type { Options } from "./options.js"

const reportOf = ({ check, found, outcome, remedy, title }: Omit<CheckReport, "type">): CheckReport => ({
  type: "check",
  check,
  title,
  outcome,
  found,
  remedy
})

/** A finding in words of the command. */
const ofCommand = (finding: Findings.Finding): CheckReport =>
  reportOf(
    finding.because === "unauthorized"
      ? { ...finding, remedy: "Set STEVEDORE_TOKEN, or the file of --token-file, to a valid token." }
      : finding.because === "notGiven"
      ? { ...finding, found: "skipped: give --origin https://your.page to check it" }
      : finding
  )

const tell = (report: CheckReport, json: boolean) =>
  Effect.gen(function*() {
    const output = yield* Output
    if (json) return yield* output.json([report])
    const terminal = yield* output.terminal
    const columns = Option.match(terminal, { onNone: () => Infinity, onSome: ({ columns }) => columns - 1 })
    yield* output.lines(DoctorReport.lines(report, columns))
  })

const diagnosisOf = (reports: ReadonlyArray<CheckReport>, left: Diagnosis["left"]): Diagnosis => {
  const count = (outcome: CheckReport["outcome"]) => reports.filter((one) => one.outcome === outcome).length
  return {
    type: "diagnosis",
    passed: count("passed"),
    warnings: count("warning"),
    failed: count("failed"),
    skipped: count("skipped"),
    left
  }
}

const conclude = (
  reports: ReadonlyArray<CheckReport>,
  ending: { readonly left: Diagnosis["left"]; readonly unauthorized: boolean; readonly json: boolean }
) =>
  Effect.gen(function*() {
    const output = yield* Output
    const diagnosis = diagnosisOf(reports, ending.left)
    yield* ending.json
      ? output.json([diagnosis])
      : output.lines(["", ...DoctorReport.summary(diagnosis)])
    const failed = reports.filter(({ outcome }) => outcome === "failed").map(({ check }) => check)
    if (failed.length > 0) {
      return yield* new DoctorReport.ChecksFailed({ failed, unauthorized: ending.unauthorized })
    }
  })

const configuration = { check: "configuration", title: "configuration" } as const

interface Configured {
  readonly service: ServiceWithToken
  readonly proxy: Option.Option<HttpProxy>
}

const layerOf = ({ proxy: found, service }: Configured, options: Options) => {
  const proxy = Option.getOrUndefined(found)
  return Layer.merge(
    Configuration.transport({ ...service, allowInsecureHttp: options.allowInsecureHttp, ledger: false, proxy }).pipe(
      Layer.provide(RetryPolicy.none)
    ),
    NodeStevedore.layerClient({ proxy })
  )
}

const wordsOf = ({ proxy, service }: Configured): string =>
  [
    service.baseUrl,
    "token set",
    service.profile.download === "link" ? "downloads by link" : "downloads as content",
    ...Option.match(proxy, {
      onNone: () => [],
      onSome: (
        { except = "", origin }
      ) => [`through the proxy ${origin}${except === "" ? "" : ` except for ${except}`}`]
    })
  ].join(", ")

// The last line, which lists it, is not printed if the run is stopped or its output fails.
const tellLeft = (left: ReadonlyArray<Findings.Left>) =>
  Effect.when(
    Effect.flatMap(Output, (output) => output.warn(DoctorReport.leftBehind(left).join("\n"))),
    () => left.length > 0
  )

const examine = (
  configured: Configured,
  options: Options,
  extras: Findings.Extras,
  after: {
    readonly left: Array<Findings.Left>
    readonly whenWorking: ReturnType<typeof ProfileFile.write> | Effect.Effect<void>
  }
) =>
  Effect.gen(function*() {
    const { proxy, service } = configured
    const { left } = after
    const first = reportOf({ ...configuration, outcome: "passed", found: wordsOf(configured), remedy: "" })
    yield* tell(first, options.json)
    const results = yield* Findings.findings({ service, proxy: Option.getOrUndefined(proxy) }, extras, left).pipe(
      Stream.tap((finding) => tell(ofCommand(finding), options.json)),
      Stream.runCollect,
      Effect.map(Chunk.toReadonlyArray),
      Effect.onError(() => tellLeft(left))
    )
    if (Findings.isWorking(results)) yield* after.whenWorking
    yield* conclude([first, ...results.map(ofCommand)], {
      left,
      unauthorized: results.some(({ because }) => because === "unauthorized"),
      json: options.json
    })
  }).pipe(Effect.provide(layerOf(configured, options)))

const configuredBy = (options: Options) =>
  Effect.gen(function*() {
    const service = yield* Configuration.resolve(options)
    return { service, proxy: yield* Proxy.resolve(service.baseUrl) } satisfies Configured
  })

const withoutConfiguration = (error: InvalidInput, options: Options, extras: Findings.Extras) =>
  Effect.gen(function*() {
    const reports = [
      reportOf({
        ...configuration,
        outcome: "failed",
        found: error.message,
        remedy: "See stevedore doctor --help for the options and variables."
      }),
      ...Findings.untried(extras, "no configuration").map(ofCommand)
    ]
    yield* Effect.forEach(reports, (report) => tell(report, options.json), { discard: true })
    yield* conclude(reports, { left: [], unauthorized: false, json: options.json })
  })

const withProfile = (path: string, configured: Configured, options: Options, extras: Findings.Extras) =>
  Effect.gen(function*() {
    const left: Array<Findings.Left> = []
    const { service, text } = yield* ProfileFile.discover(configured.service, { json: options.json, left }).pipe(
      Effect.provide(layerOf(configured, options)),
      Effect.onError(() => tellLeft(left))
    )
    yield* examine({ ...configured, service }, options, extras, {
      left,
      whenWorking: ProfileFile.write(path, text, options.overwrite)
    })
  })

const judgedFile = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.stat(path)).pipe(
    Effect.mapError((error) => invalid("--file", PlatformWords.describe("read", path)(error))),
    Effect.filterOrFail(
      ({ type }) => type !== "Directory",
      () => invalid("--file", `${path} is a directory: name a file`)
    ),
    Effect.map(({ size }) => ({ path, size: Number(size) }))
  )

/**
 * Tries every step and reports each as it ends. Fails at the end if any check failed. A failed check does not stop
 * those that do not depend on it.
 */
export const run = (options: Options) =>
  Effect.gen(function*() {
    const extras: Findings.Extras = {
      file: yield* Effect.transposeMapOption(options.file, judgedFile),
      origin: options.origin
    }
    yield* Effect.transposeMapOption(options.writeProfile, (path) => ProfileFile.checkTarget(path, options.overwrite))
    const configured = yield* Effect.either(configuredBy(options))
    if (configured._tag === "Left") return yield* withoutConfiguration(configured.left, options, extras)
    yield* Option.match(options.writeProfile, {
      onNone: () => examine(configured.right, options, extras, { left: [], whenWorking: Effect.void }),
      onSome: (path) => withProfile(path, configured.right, options, extras)
    })
  }).pipe(Effect.provide(NodeTerminal.layer))
