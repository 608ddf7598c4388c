/** The uploads of one command: each file is skipped, sent or failed, and that is told and counted once. */
import type { ServiceApi } from "@stevedore/core/ServiceApi"
import type { ServiceProfile } from "@stevedore/core/ServiceProfile"
import type { UploadError, UploadLocked } from "@stevedore/core/UploadError"
import * as UploadLedger from "@stevedore/core/UploadLedger"
import { check, type UploadOptions } from "@stevedore/core/UploadOptions"
import * as UploadPlan from "@stevedore/core/UploadPlan"
import * as Uploads from "@stevedore/core/Uploads"
import type { UploadSource } from "@stevedore/core/UploadSource"
import * as FileSource from "@stevedore/node/FileSource"
import type * as HttpSource from "@stevedore/node/HttpSource"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { constVoid } from "effect/Function"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { basename } from "node:path"
import type { Outcome } from "../files/outcomes.js"
import { type FileToUpload, standardInput } from "../files/paths.js"
import * as StandardInput from "../files/standardInput.js"
import { Output, type OutputFailed } from "../print/output.js"
import * as Printable from "../print/printable.js"
import type { FileError } from "../print/reports.js"
import * as Reports from "../print/reports.js"
import type { Completed, UploadedFile } from "../print/schemas.js"
import * as HeldLedger from "./heldLedger.js"
import type * as Manifest from "./manifest.js"
import type { Options } from "./options.js"
import * as Remembered from "./remembered.js"
import * as UrlSource from "./urlSource.js"
import type * as UploadWatch from "./watch.js"

export interface Run {
  readonly service: string
  readonly given: Options
  readonly upload: UploadOptions
  readonly limits: ServiceProfile["limits"]
  readonly watch: UploadWatch.UploadWatch
  readonly manifest: Manifest.Manifest
  /** What is sent with the rows that are URLs. */
  readonly sourceHeaders: HttpSource.WebFile["headers"]
  /** As many as files may be uploaded concurrently. */
  readonly slots: Effect.Semaphore
  /** By the identity of a file: under two names it is uploaded twice, one after the other. */
  readonly turns: Map<string, Effect.Semaphore>
  /** What every file would fail with. */
  readonly refusal: Effect.Effect<Option.Option<FileError>>
  /** Hears how a file ended, which may be how all of them would. */
  readonly heard: (outcome: Ended) => Effect.Effect<void>
  /** Tells how a file ended, and counts it. */
  readonly tell: (outcome: Ended) => Effect.Effect<void, OutputFailed, Output>
}

/** How a file ended. */
export type Ended = Outcome<FileToUpload, typeof Completed.Type, FileError>

/** A file that the manifest has, unchanged. */
interface Known {
  readonly file: FileToUpload
  readonly known: UploadedFile
}

const describedAs = ({ row }: FileToUpload, { given }: Run): Remembered.Described => ({
  name: Option.getOrUndefined(Option.orElse(given.name, () => Option.flatMap(row, ({ name }) => name))),
  mediaType: Option.getOrUndefined(
    Option.orElse(Option.flatMap(row, ({ mediaType }) => mediaType), () => given.mediaType)
  )
})

const sourceOf = (
  file: FileToUpload,
  run: Run
): Effect.Effect<UploadSource, FileError, Scope.Scope> => {
  if (Option.isSome(file.refused)) return Effect.fail(file.refused.value)
  const described = describedAs(file, run)
  if (Option.isSome(file.url)) {
    return UrlSource.make({ url: file.url.value, headers: run.sourceHeaders }, { ...described, identity: file.real })
  }
  if (file.path === standardInput) return FileSource.spooled(described.name ?? "stdin", StandardInput.bytes, described)
  return Option.match(file.name, {
    onNone: () => FileSource.fromPath(file.path, described),
    onSome: (name) =>
      file.linked
        ? FileSource.fromPath(file.path, { ...described, name: described.name ?? name })
        : FileSource.fromEntry({ name, path: file.path, within: file.within }, described)
  })
}

const changedAt = ({ path, url }: FileToUpload): Effect.Effect<string | undefined> =>
  Option.isSome(url) ? Effect.succeed(undefined) : Effect.map(FileSource.stateAt(path), (state) => state?.changed)

const isSame = (known: UploadedFile, source: UploadSource, changed: string | undefined, run: Run) =>
  source._tag === "OneShotSource"
    ? Effect.succeed(false)
    : run.given.check || (Remembered.isUnchanged(known, source.fingerprint) && known.changed !== changed)
    ? Remembered.isSameContent(known, source)
    : Effect.succeed(Remembered.isUnchanged(known, source.fingerprint))

const find = (file: FileToUpload, source: UploadSource, run: Run) =>
  Effect.gen(function*() {
    if (run.given.again || file.path === standardInput) return Option.none<UploadedFile>()
    const found = Option.filter(
      yield* run.manifest.find(file.real),
      (known) => Remembered.isDescribedAs(known, describedAs(file, run))
    )
    if (Option.isNone(found)) return Option.none()
    const changed = yield* changedAt(file)
    if (!(yield* isSame(found.value, source, changed, run))) return Option.none()
    const { fingerprint } = source
    return Option.some({ ...found.value, fingerprint, changed, modified: Remembered.isoOf(fingerprint.modified) })
  })

const uploadedOf = (
  file: FileToUpload,
  source: UploadSource,
  { checksum, file: { id: fileId } }: typeof Completed.Type,
  { service }: Run,
  { changed, date }: { readonly changed: string | undefined; readonly date: string }
): UploadedFile => ({
  path: file.real,
  name: source.name,
  mediaType: source.mediaType,
  size: source.size,
  modified: Remembered.isoOf(source.fingerprint.modified),
  fingerprint: source.fingerprint,
  changed,
  service,
  fileId,
  checksum,
  uploadedAt: date,
  checkedAt: date
})

const transfer = (
  file: FileToUpload,
  source: UploadSource,
  run: Run,
  begun: () => void
): Effect.Effect<Ended, UploadError, Uploads.Requirements> =>
  Effect.gen(function*() {
    const startedAt = yield* Clock.currentTimeMillis
    const changed = yield* changedAt(file)
    const runtime = yield* Effect.runtime<never>()
    let sent = 0
    let said: Fiber.Fiber<void> | undefined
    const upload = Uploads.uploadWithListener(source, uploadOf(source, run), (progress) => {
      run.watch.follow(file, progress)
      return (event) => {
        if (event._tag === "PartStored") sent += event.size
        if (event._tag !== "SessionOpened") return
        begun()
        const saying = run.watch.opened(file, event)
        if (saying !== undefined) said = Runtime.runFork(runtime)(saying)
      }
    })
    const uploaded = yield* run.watch.during(file)(
      run.given.verify === "download" ? Uploads.readBack(source)(upload) : upload
    )
    if (said !== undefined) yield* Fiber.join(said)
    const took = Duration.millis((yield* Clock.currentTimeMillis) - startedAt)
    const report = Reports.completed(file.path, uploaded, took)
    if (file.path !== standardInput) {
      yield* run.manifest.add(uploadedOf(file, source, report, run, { changed, date: yield* Remembered.now }))
    }
    const resumed = Math.max(0, report.bytes - sent)
    const path = file.path === standardInput ? source.name : file.path
    return { _tag: "Done", input: file, path, fileId: uploaded.id, report, took, moved: sent, resumed }
  })

// Held by the scope, like the lock of the file's upload, but released after it: the next upload of the same file finds
// nothing of this one.
const takeTurn = ({ turns }: Run, identity: string): Effect.Effect<void, never, Scope.Scope> =>
  Effect.suspend(() => {
    const turn = turns.get(identity) ?? Effect.unsafeMakeSemaphore(1)
    turns.set(identity, turn)
    return Effect.uninterruptibleMask((restore) =>
      Effect.zipRight(restore(turn.take(1)), Effect.addFinalizer(() => turn.release(1)))
    )
  })

// Also of a file that was uploaded before: an earlier command may not have come so far
const imported = (
  file: FileToUpload,
  outcome: Ended,
  run: Run
): Effect.Effect<Ended, never, ServiceApi> => {
  const finished = outcome._tag === "Done"
    ? Option.some({ fileId: outcome.fileId, name: outcome.report.file.name ?? file.path })
    : outcome._tag === "Skipped"
    ? Option.map(outcome.fileId, (fileId) => ({ fileId, name: Option.getOrElse(file.name, () => basename(file.path)) }))
    : Option.none()
  return Option.match(Option.all([finished, run.given.into]), {
    onNone: () => Effect.succeed(outcome),
    onSome: ([{ fileId, name }, projectId]) =>
      // lists, which it needs, are a twentieth of a start
      Effect.promise(() => import("./importing.js")).pipe(
        Effect.flatMap(({ importing }) => importing({ file, fileId, name, projectId }, run.manifest)),
        Effect.match({
          onFailure: (error): Ended => ({ _tag: "Failed", input: file, error }),
          onSuccess: (entryId): Ended =>
            entryId === undefined
              ? outcome
              : outcome._tag === "Done"
              ? { ...outcome, report: { ...outcome.report, entryId } }
              : outcome._tag === "Skipped"
              ? { ...outcome, entryId }
              : outcome
        })
      )
  })
}

const uploadOf = (source: UploadSource, { given, limits, upload }: Run): UploadOptions => ({
  ...upload,
  parts: UploadPlan.partsOfSize(source.size, Option.getOrUndefined(given.partSize), limits) ?? upload.parts
})

export const skippedAs = ({ file, known }: Known): Ended => ({
  _tag: "Skipped",
  input: file,
  path: file.path,
  reason: "uploaded",
  fileId: Option.some(known.fileId)
})

// With the lock in hand, what another process has uploaded meanwhile is in the manifest: then the file counts as locked.
const unlessUploaded = (file: FileToUpload, source: UploadSource, run: Run) => {
  const uploaded = Effect.orElseSucceed(find(file, source, run), () => Option.none<UploadedFile>())
  return {
    ledger: (ledger: UploadLedger.Service): UploadLedger.Service => ({
      ...ledger,
      lock: (id) =>
        Effect.flatMap(ledger.lock(id), (taken) => taken ? Effect.map(uploaded, Option.isNone) : Effect.succeed(false))
    }),
    orSkipped: (error: UploadLocked) =>
      Effect.flatMap(
        uploaded,
        Option.match({
          onNone: () => Effect.fail(error),
          onSome: (known) => Effect.succeed(skippedAs({ file, known }))
        })
      )
  }
}

const tellOnce = ({ path }: FileToUpload) =>
  Effect.flatMap(Output, (output) =>
    output.note(
      `${Printable.line(path)} is read once, from front to back, because its server has no ranges or no strong etag: ` +
        "if this is interrupted, it starts over"
    ))

const send = (
  file: FileToUpload,
  run: Run,
  begun: () => void
): Effect.Effect<Ended, FileError, Uploads.Requirements | Scope.Scope | Output> =>
  Effect.gen(function*() {
    const source = yield* sourceOf(file, run)
    if (source._tag === "OneShotSource") yield* tellOnce(file)
    yield* takeTurn(run, source.fingerprint.identity ?? file.path)
    const { ledger, orSkipped } = unlessUploaded(file, source, run)
    return yield* transfer(file, source, run, begun).pipe(
      Effect.provideService(UploadLedger.UploadLedger, ledger(yield* UploadLedger.UploadLedger)),
      run.slots.withPermits(1),
      Effect.catchTag("UploadLocked", orSkipped)
    )
  })

const tellEnd = (file: FileToUpload, outcome: Ended, run: Run) =>
  Effect.gen(function*() {
    yield* run.heard(outcome)
    yield* run.watch.settle(file, outcome._tag)
    yield* run.tell(outcome)
  })

const settled = <R>(
  file: FileToUpload,
  run: Run,
  sending: Effect.Effect<Ended, FileError, R>
) =>
  Effect.gen(function*() {
    const { keep, ledger, settle } = yield* HeldLedger.make
    // an upload that continues an earlier session makes no call to the service before its end
    const tried = Effect.flatMap(
      run.refusal,
      Option.match({ onNone: () => sending, onSome: (refusal) => Effect.fail(refusal) })
    )
    const outcome = yield* Effect.match(Effect.provideService(tried, UploadLedger.UploadLedger, ledger), {
      onSuccess: (outcome) => outcome,
      onFailure: (error): Ended => ({ _tag: "Failed", input: file, error })
    })
    const finished = yield* imported(file, outcome, run)
    yield* tellEnd(file, finished, run)
    // the file is up: when the command runs again, it is found and read back, and not sent again
    if (outcome._tag === "Failed" && outcome.error._tag === "ContentUnverified") yield* keep
    // if interrupted before it was reported, the file is found again when the command runs again
    yield* settle
  }).pipe(Effect.scoped)

const uploadOne = (file: FileToUpload, run: Run, begun: () => void) => settled(file, run, send(file, run, begun))

const ask = ({ file, known }: Known, run: Run, onLost: () => void) =>
  settled(
    file,
    run,
    Effect.gen(function*() {
      const still = yield* Remembered.stillThere(known)
      if (Option.isNone(still)) {
        onLost()
        return yield* send(file, { ...run, given: { ...run.given, again: true } }, constVoid)
      }
      yield* run.manifest.add(still.value)
      return skippedAs({ file, known })
    })
  )

// Files that are already up cost one request each: few enough at a time that new uploads do not wait behind them.
const questionsAtOnce = 4

const askAll = (files: ReadonlyArray<Known>, run: Run) =>
  Effect.gen(function*() {
    const asked = run.given.check ? new Set(files) : Remembered.worthAsking(files, yield* Clock.currentTimeMillis)
    let isLost = false
    const askFor = (one: Known) =>
      ask(one, run, () => {
        isLost = true
      })
    const [first, ...others] = asked
    if (first !== undefined) yield* askFor(first)
    yield* Effect.forEach(others, askFor, { concurrency: questionsAtOnce, discard: true })
    yield* Effect.forEach(
      files.filter((one) => !asked.has(one)),
      (one) =>
        Effect.suspend(() =>
          isLost
            ? askFor(one)
            : Effect.flatMap(imported(one.file, skippedAs(one), run), (outcome) => tellEnd(one.file, outcome, run))
        ),
      { concurrency: questionsAtOnce, discard: true }
    )
  })

/** What is wrong with a file before anything is sent. Of what is read from elsewhere, nothing is known yet. */
export const problemOf = (
  file: FileToUpload,
  run: Run
): Effect.Effect<Option.Option<FileError>> =>
  Option.isSome(file.url) || file.path === standardInput
    ? Effect.succeedNone
    : Effect.scoped(sourceOf(file, run)).pipe(
      Effect.flatMap((source) => check(source, uploadOf(source, run), run.limits)),
      Effect.flip,
      Effect.option
    )

const recognize = (file: FileToUpload, run: Run) =>
  Effect.gen(function*() {
    // most commands know nothing of their files: those are inspected when it is their turn
    if (run.given.again || Option.isNone(yield* run.manifest.find(file.real))) return { file, known: Option.none() }
    const known = Effect.scoped(Effect.flatMap(sourceOf(file, run), (source) => find(file, source, run)))
    return { file, known: yield* Effect.orElseSucceed(known, () => Option.none<UploadedFile>()) }
  })

export const recognizeAll = (files: ReadonlyArray<FileToUpload>, run: Run) =>
  Effect.map(Effect.forEach(files, (file) => recognize(file, run), { concurrency: 8 }), (all) => ({
    fresh: all.flatMap(({ file, known }) => Option.isNone(known) ? [file] : []),
    known: all.flatMap(({ file, known }) => Option.isSome(known) ? [{ file, known: known.value }] : [])
  }))

const uploadEach = (files: ReadonlyArray<FileToUpload>, run: Run) =>
  Effect.gen(function*() {
    const gate = yield* Deferred.make<void>()
    const open = () => Deferred.unsafeDone(gate, Effect.void)
    const { fresh, known } = yield* recognizeAll(files, run)
    yield* HeldLedger.forgetDone(new Set(known.map(({ known }) => known.fileId)))
    const [first] = fresh
    const one = (file: FileToUpload) =>
      file === first
        ? Effect.ensuring(uploadOne(file, run, open), Effect.sync(open))
        : Effect.zipRight(Deferred.await(gate), uploadOne(file, run, constVoid))
    const asking = first === undefined ? askAll(known, run) : Effect.zipRight(Deferred.await(gate), askAll(known, run))
    yield* Effect.all([Effect.forEach(fresh, one, { concurrency: run.given.files, discard: true }), asking], {
      concurrency: "unbounded",
      discard: true
    })
  })

/**
 * Uploads the files, until too many have failed. The first one goes ahead alone until its session is open, so that what
 * is refused for all files is requested only once.
 */
export const uploadAll = (files: ReadonlyArray<FileToUpload>, run: Run) =>
  Effect.gen(function*() {
    const enough = yield* Deferred.make<void>()
    let failures = 0
    const most = run.given.failFast ? 1 : Option.getOrElse(run.given.maxErrors, () => Number.POSITIVE_INFINITY)
    const tell: Run["tell"] = (outcome) =>
      Effect.zipRight(
        run.tell(outcome),
        Effect.suspend(() => {
          if (outcome._tag === "Failed") failures += 1
          return failures >= most ? Effect.asVoid(Deferred.succeed(enough, undefined)) : Effect.void
        })
      )
    yield* Effect.raceFirst(uploadEach(files, { ...run, tell }), Deferred.await(enough))
  })
