import { assert, describe, it } from "@effect/vitest"
import {
  FileRecord,
  RetryPolicy,
  type ServiceError,
  ServiceProfile,
  UploadOptions,
  type UploadSession,
  type UploadSource,
  UploadSources
} from "@stevedore/core"
import { Effect, Either } from "effect"
import type * as UploadRecord from "../../src/ledger/record.js"
import * as Decide from "../../src/upload/decide.js"
import { meaningOf, namesInvalidPart } from "../../src/upload/meaning.js"
import type { Asked, Found, Opened, Proof, Receipts, State, Terms } from "../../src/upload/state.js"
import { presigned } from "../fixtures/presignedUrls.js"
import { serviceErrors, sourceErrors, storageErrors } from "./golden.js"

/** What a life is made of: one whole number after the other. */
class Lot {
  constructor(private seed: number) {}
  next(below: number): number {
    this.seed = (Math.imul(this.seed ^ (this.seed >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0
    return this.seed % below
  }
  of<A>(all: readonly [A, ...ReadonlyArray<A>]): A {
    return all[this.next(all.length)] ?? all[0]
  }
}

const now = Date.UTC(2026, 0, 1)

const limits = { ...ServiceProfile.standard.limits, minimumPartSize: 1 }

const profile = ServiceProfile.extend(ServiceProfile.standard, { limits })

const source: UploadSource = {
  ...UploadSources.fromBytes("a", new Uint8Array(95)),
  fingerprint: { kind: "file", size: 95, identity: "1" }
}

const checked = Effect.runSync(UploadOptions.check(source, { strategy: "multipart" }, limits))

const url = presigned({ seconds: 10_800 })

const sessionOf = (fileId: string): UploadSession.MultipartSession => ({
  _tag: "MultipartSession",
  fileId,
  uploadId: "u",
  clockOffset: 0,
  openedAt: now,
  extra: {},
  urls: [url, url, url]
})

const recordOf = (fileId: string, phase: "uploading" | "completing"): UploadRecord.UploadRecord => ({
  version: 1,
  id: "i",
  service: "https://service.test",
  name: source.name,
  mediaType: source.mediaType,
  fingerprint: source.fingerprint,
  checksumAlgorithm: "crc32",
  session: {
    fileId,
    uploadId: "u",
    clockOffset: 0,
    openedAt: now,
    parts: 3,
    ...(phase === "uploading" ? { urls: [url, url, url] } : {})
  },
  phase,
  startedAt: now
})

const receiptsOf = (lot: Lot, count: number): Receipts =>
  [32, 32, 31].slice(0, count).map((size, index) => ({
    partNumber: index + 1,
    etag: "e",
    size,
    attempts: 1 + lot.next(2)
  }))

const serviceErrorOf = (lot: Lot): ServiceError.ServiceError => {
  const { conflict, ...others } = serviceErrors
  const make = lot.of<(attempts: number) => ServiceError.ServiceError>([conflict, ...Object.values(others)])
  const error = make(1 + lot.next(2))
  return "issues" in error && lot.next(3) === 0
    ? Reflect.construct(error.constructor, [{ ...error, mayHaveArrived: true }])
    : error
}

const storageErrorOf = (lot: Lot) => {
  const { expired, ...others } = { ...storageErrors, ...sourceErrors }
  const make = lot.of<
    (attempts: number) => ReturnType<typeof others[keyof typeof others]> | ReturnType<typeof expired>
  >(
    [expired, ...Object.values(others)]
  )
  return make(1)
}

const fileOf = (lot: Lot): FileRecord.FileRecord => ({
  id: "f",
  name: "a",
  status: lot.of(["pending", "completed", "failed"]),
  size: lot.of([95, 95, 7, undefined]),
  created_at: ""
})

/** A step of a life: what it was answered, what follows, and whether Complete may have been carried out by then. */
interface Lived {
  readonly before: State
  readonly after: State
  readonly isOpen: boolean
  readonly isProven: boolean
}

const live = (seed: number): { readonly terms: Terms; readonly steps: ReadonlyArray<Lived> } => {
  const lot = new Lot(seed)
  const terms: Terms = {
    source: lot.next(2) === 0 ? source : { ...source, _tag: "OneShotSource" },
    options: {
      ...checked,
      maxSessions: 1 + lot.next(3),
      unfinished: lot.of([undefined, undefined, "i"])
    },
    service: { baseUrl: "https://service.test", profile, allowInsecureHttp: false },
    policy: RetryPolicy.make()
  }
  const steps: Array<Lived> = []
  let state: State = Decide.initial
  let files = 0
  let isOpen = false
  while (state._tag !== "Done" && state._tag !== "Failed" && steps.length < 200) {
    const before: State = state
    const fails = lot.next(2) === 0
    let isProven = false
    switch (before._tag) {
      case "Finding": {
        const phase = lot.of(["uploading", "completing"] as const)
        const left = lot.next(2) === 0
          ? undefined
          : { record: recordOf("f0", phase), receipts: receiptsOf(lot, 2 + lot.next(2)) }
        isOpen = left?.record.phase === "completing"
        state = Decide.found(terms, before, Either.right<Found>({ left, now }))
        break
      }
      case "Proving":
        state = Decide.proved(
          terms,
          before,
          Either.right<Proof>(
            lot.of<Proof>([
              Either.right(true),
              Either.right(true),
              Either.right(false),
              Either.left(sourceErrors.readOnce(1)),
              Either.left(sourceErrors.unreadable(1))
            ])
          )
        )
        break
      case "Opening": {
        const fileId = `f${++files}`
        isOpen = false
        state = Decide.opened(
          terms,
          before,
          fails
            ? Either.left(serviceErrorOf(lot))
            : Either.right<Opened>({ session: sessionOf(fileId), record: recordOf(fileId, "uploading"), now })
        )
        break
      }
      case "Sending":
        state = Decide.sent(
          terms,
          before,
          fails ? Either.left(storageErrorOf(lot)) : Either.right(receiptsOf(lot, 3))
        )
        break
      case "Completing": {
        const error = serviceErrorOf(lot)
        const file = fileOf(lot)
        isProven = !fails && file.status !== "failed"
        // Rejected etags are reported only for an upload that was not completed before
        isOpen = fails
          ? meaningOf(error).complete === "open" ||
            ("issues" in error && error.mayHaveArrived === true && !namesInvalidPart(error))
          : file.status === "failed"
        state = Decide.completed(terms, before, fails ? Either.left(error) : Either.right(file))
        break
      }
      case "Asking": {
        const error = serviceErrorOf(lot)
        const file = fileOf(lot)
        const content = file.status === "pending"
          ? lot.of<Exclude<Asked["content"], undefined>>([
            Either.void,
            Either.left(serviceErrors.notFound(1)),
            Either.left(serviceErrors.unavailable(1))
          ])
          : undefined
        isProven = !fails && (file.status === "completed" || (content !== undefined && Either.isRight(content)))
        const isMissing = fails
          ? error._tag === "NotFound"
          : content !== undefined && Either.isLeft(content) && content.left._tag === "NotFound"
        // Nobody asked in the name of Complete, or the answer settles it
        isOpen = isOpen && !isProven && before.after === "Completing" && !isMissing &&
          (fails || file.status !== "failed")
        state = Decide.asked(terms, before, fails ? Either.left(error) : Either.right<Asked>({ file, content }))
        break
      }
    }
    steps.push({ before, after: state, isOpen, isProven })
  }
  return { terms, steps }
}

const lives = Array.from({ length: 2000 }, (_, number) => live(Math.imul(number + 1, 0x9e3779b1) >>> 0))

const everyLife = (law: (life: ReturnType<typeof live>) => void) => () => lives.forEach(law)

describe("the decisions of an upload", () => {
  it(
    "come to an end",
    everyLife(({ steps }) => {
      const last = steps.at(-1)?.after._tag
      assert.include(["Done", "Failed"], last)
      assert.isBelow(steps.length, 30)
    })
  )

  it(
    "open no more sessions than are allowed",
    everyLife(({ steps, terms }) => {
      for (const { after } of steps) assert.isAtMost(after.number, terms.options.maxSessions)
    })
  )

  it(
    "keep what is recorded as long as Complete may have been carried out",
    everyLife(({ steps }) => {
      for (const { after, before, isOpen } of steps) {
        const session = "session" in before ? before.session : undefined
        if (!isOpen || session === undefined || session.parts.length === 0) continue
        if (after._tag === "Done") continue
        assert.isDefined(
          after.record,
          `${before._tag} -> ${after._tag} ${after._tag === "Failed" ? after.error._tag : ""}`
        )
        assert.notInclude(["Opening", "Sending"], after._tag)
      }
    })
  )

  it(
    "end well only with a proof",
    everyLife(({ steps }) => {
      for (const { after, isProven } of steps) if (after._tag === "Done") assert.isTrue(isProven)
    })
  )

  it(
    "throw away nothing that was asked for by its id before its session has ended",
    everyLife(({ steps, terms }) => {
      if (terms.options.unfinished === undefined) return
      for (const { after, before } of steps) {
        if (before._tag !== "Proving" || before.left.record.session.urls === undefined) continue
        if (after._tag === "Failed") assert.strictEqual(after.record, before.record)
        else assert.include(["Sending"], after._tag)
      }
    })
  )

  it("go on with a record alone only if its content was read or its state is final", () => {
    const terms = live(1).terms
    const asking: State = {
      ...Decide.initial,
      _tag: "Asking",
      session: { fileId: "f", uploadId: "u", clockOffset: 0, openedAt: now, count: 3, parts: [], inherited: true },
      receipts: [],
      repaired: false,
      after: "Restart",
      because: undefined
    }
    const file = { id: "f", name: "a", size: 95, status: "pending" as const, created_at: "" }
    assert.isTrue(FileRecord.isThere(file, 95))
    const content = Either.left(serviceErrors.unavailable(1))
    const end = Decide.asked(terms, asking, Either.right({ file, content }))
    assert.deepInclude(end, { _tag: "Failed" })
    assert.strictEqual(Decide.asked(terms, asking, Either.right({ file, content: Either.void }))._tag, "Done")
  })
})
