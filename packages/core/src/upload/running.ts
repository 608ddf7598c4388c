/** An upload while it runs: its source, which is open as long as a session lasts, and what the ledger holds of it. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { spelled } from "../base/effect.js"
import type { Aside } from "../base/fibers.js"
import { untilTimerUnwaited } from "../base/fibers.js"
import * as Checksum from "../Checksum.js"
import type { UploadRecord } from "../ledger/record.js"
import type { Metadata } from "../Metadata.js"
import * as RetryPolicy from "../RetryPolicy.js"
import type { Service } from "../ServiceApi.js"
import { ServiceApi } from "../ServiceApi.js"
import type { SourceError } from "../SourceError.js"
import type { UploadError } from "../UploadError.js"
import { UploadLocked } from "../UploadError.js"
import * as UploadLedger from "../UploadLedger.js"
import type { OpenSource, UploadSource } from "../UploadSource.js"
import type { CheckedOptions } from "./checkedOptions.js"
import type { UploadState } from "./control.js"
import type { Terms } from "./state.js"

/** An upload that is about to run. */
export interface Upload {
  readonly source: UploadSource
  readonly options: CheckedOptions
  readonly run: UploadState
}

/** What an upload knows of its ledger. */
interface Ledger {
  readonly service: UploadLedger.Service
  /** What it holds. */
  record: UploadRecord | undefined
  /** Whether it has taken so long for something that this upload no longer waits for it. */
  hangs: boolean
  /** Where its operations run, if it says so. */
  readonly aside: Aside | undefined
}

/** An upload while it runs: what its steps share and no decision depends on. */
export interface Running extends Upload {
  readonly service: Service
  readonly terms: Terms
  /** Where it is recorded; if nowhere, nothing is. */
  readonly id: Option.Option<string>
  readonly ledger: Ledger
  readonly scope: Scope.Scope
  /** What travels with its sessions: as given, or else as an earlier process was given it. */
  metadata: Metadata | undefined
  /** The source, as long as one session lasts. */
  opened: { readonly source: OpenSource; readonly scope: Scope.CloseableScope } | undefined
  /** What a part failed with for good in the present step. */
  failure: UploadError | undefined
}

/** An upload that has not begun, for as long as the scope lasts. */
export const make = (
  { options, run, source }: Upload,
  scope: Scope.Scope
): Effect.Effect<Running, never, ServiceApi> =>
  Effect.gen(function*() {
    const service = yield* ServiceApi
    const ledger = yield* UploadLedger.UploadLedger
    const id = Option.orElse(
      Option.fromNullable(options.unfinished),
      () =>
        options.resume && ledger !== UploadLedger.nothing
          ? UploadLedger.idOf(service.baseUrl, source)
          : Option.none()
    )
    const aside = Option.isNone(id) || !ledger.aside ? undefined : yield* ledger.aside(scope)
    return {
      source,
      options,
      run,
      service,
      terms: {
        source,
        options,
        service,
        policy: yield* RetryPolicy.RetryPolicy,
        algorithm: yield* Checksum.Algorithm
      },
      id,
      ledger: { service: ledger, record: undefined, hangs: false, aside },
      scope,
      metadata: options.metadata,
      opened: undefined,
      failure: undefined
    }
  })

/** The source, opened when it is first needed in a session. */
export const openedSource = (upload: Running): Effect.Effect<OpenSource, SourceError> =>
  Effect.suspend(() => {
    if (upload.opened !== undefined) return Effect.succeed(upload.opened.source)
    return Effect.flatMap(Scope.fork(upload.scope, ExecutionStrategy.sequential), (scope) =>
      Effect.map(Scope.extend(upload.source.open, scope), (source) => {
        upload.opened = { source, scope }
        return source
      }))
  })

/** Closes the source at the end of a session. */
export const closed = (upload: Running): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { opened } = upload
    upload.opened = undefined
    return opened === undefined ? Effect.void : Scope.close(opened.scope, Exit.void)
  })

/** Longer than a ledger takes that works, even if it waits five seconds for the lock of its index. */
const usualPatience = Duration.seconds(10)

/**
 * What an operation of the ledger gives, or `otherwise` if that takes too long. The ledger is then left alone for the rest
 * of the upload, which can no longer be resumed: a successful upload is worth more.
 */
export const given = <A>(
  ledger: Ledger,
  operation: (service: UploadLedger.Service) => Effect.Effect<A>,
  otherwise: A
): Effect.Effect<A> =>
  Effect.suspend(() => {
    const { hangs, service } = ledger
    if (hangs) return Effect.succeed(otherwise)
    const patience = Duration.decode(service.patience ?? usualPatience)
    const givenUp = Effect.suspend(() => {
      if (ledger.hangs) return Effect.succeed(otherwise)
      ledger.hangs = true
      return Effect.as(
        Effect.logWarning(
          `The ledger of unfinished uploads has not answered for ${spelled(patience)}: this one cannot be resumed`
        ),
        otherwise
      )
    })
    const run: Aside["run"] = ledger.aside?.run ?? untilTimerUnwaited
    return run(Effect.suspend(() => operation(service)), patience, givenUp)
  })

/**
 * Does what would change an upload, unless its lock was lost: whoever has it now may have taken the upload over. It is
 * asked before each attempt of a call, too.
 */
export const ifHeld = <A, E, R>(
  { id, ledger: { service: { isHeld } }, source, terms: { policy } }: Running,
  change: Effect.Effect<A, E, R>
): Effect.Effect<A, E | UploadLocked, R> => {
  if (isHeld === undefined || Option.isNone(id)) return change
  let held = true
  const isWanted = Effect.map(isHeld(id.value), (still) => held = still)
  const locked = new UploadLocked({ fileName: source.name })
  return Effect.flatMap(isWanted, (still): Effect.Effect<A, E | UploadLocked, R> =>
    still
      ? Effect.mapError(
        Effect.provideService(change, RetryPolicy.RetryPolicy, { ...policy, isWanted }),
        (error) => held ? error : locked
      )
      : locked)
}

/** Makes the ledger hold what was decided. */
export const record = ({ ledger }: Running, next: UploadRecord | undefined): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { record } = ledger
    if (record?.session.fileId === next?.session.fileId) return Effect.void
    ledger.record = next
    return Effect.zipRight(
      record === undefined ? Effect.void : given(ledger, (service) => service.forget(record), undefined),
      next === undefined ? Effect.void : given(ledger, (service) => service.begin(next), undefined)
    )
  })
