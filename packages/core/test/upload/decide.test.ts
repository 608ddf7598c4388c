import { assert, describe, it } from "@effect/vitest"
import {
  Checksum,
  FileRecord,
  RetryPolicy,
  type ServiceError,
  ServiceProfile,
  type SourceError,
  StorageError,
  UploadError,
  UploadOptions,
  type UploadSession,
  type UploadSource,
  UploadSources
} from "@stevedore/core"
import { Array as Arr, Effect, Either } from "effect"
import type * as UploadRecord from "../../src/ledger/record.js"
import * as Decide from "../../src/upload/decide.js"
import { isDoubtful, meaningOf, namesInvalidPart, wasAnswered } from "../../src/upload/meaning.js"
import type { FileLookup, Found, Opened, Proof, Receipts, State, Terms } from "../../src/upload/state.js"
import { presigned, signedAt } from "../fixtures/presignedUrls.js"
import { serviceErrors, sourceErrors, storageErrors } from "./golden.js"

// when the URLs were signed
const now = signedAt

const limits = { ...ServiceProfile.standard.limits, minimumPartSize: 1 }

const profile = ServiceProfile.extend(ServiceProfile.standard, { limits })

const source: UploadSource = {
  ...UploadSources.fromBytes("a", new Uint8Array(95)),
  fingerprint: { kind: "file", size: 95, identity: "1" }
}

const checked = Effect.runSync(UploadOptions.check(source, { strategy: "multipart" }, limits))

const url = presigned({ seconds: 10_800 })

const hours = 3_600_000

/** How a file is sent: as a whole, or in parts. */
type Kind = "single" | "multipart"

const countOf = (kind: Kind): number => kind === "single" ? 1 : 3

const sessionOf = (
  kind: Kind,
  fileId: string,
  clockOffset: number,
  parts = countOf(kind)
): UploadSession.UploadSession => {
  const fields = { fileId, clockOffset, openedAt: now, extra: {} }
  return kind === "single"
    ? { ...fields, _tag: "SingleSession", url }
    : { ...fields, _tag: "MultipartSession", uploadId: "u", urls: [url, ...Arr.replicate(url, parts - 1)] }
}

const recordOf = (
  kind: Kind,
  fileId: string,
  phase: "uploading" | "completing",
  parts = countOf(kind)
): UploadRecord.UploadRecord => ({
  version: 1,
  id: "i",
  service: "https://service.test",
  name: source.name,
  mediaType: source.mediaType,
  fingerprint: source.fingerprint,
  checksumAlgorithm: "crc32",
  session: {
    fileId,
    ...(kind === "single" ? {} : { uploadId: "u" }),
    clockOffset: 0,
    openedAt: now,
    parts,
    ...(phase === "uploading" ? { urls: [url, ...Arr.replicate(url, parts - 1)] } : {})
  },
  phase,
  startedAt: now
})

/** Of parts sent once, of parts sent twice, and of both. */
const receiptsOf = (count: number): ReadonlyArray<Receipts> =>
  [[1, 1, 1], [2, 2, 2], [1, 2, 1]].map((attempts) =>
    [32, 32, 31].slice(0, count).map((size, index) => ({
      partNumber: index + 1,
      etag: "e",
      size,
      attempts: attempts[index] ?? 1
    }))
  )

const locked = new UploadError.UploadLocked({ fileName: "a" })

const arrived = (error: ServiceError.ServiceError): ServiceError.ServiceError =>
  "issues" in error ? Reflect.construct(error.constructor, [{ ...error, mayHaveArrived: true }]) : error

const ofService = Object.values(serviceErrors).map((make) => make(1))

const ofSource = Object.values(sourceErrors).map((make) => make(1))

const ofCall = [...ofService, ...ofService.filter((error) => "issues" in error).map(arrived), ...ofSource, locked]

const ofPart = [
  ...Object.values(storageErrors).map((make) => make(1)),
  new StorageError.StorageRejected({ status: 412, mayHaveArrived: true, attempts: 2 }),
  new StorageError.StorageRejected({ status: 403, excerpt: "a firewall", attempts: 1 }),
  new UploadError.DeadlineUnreachable({ fileName: "a", size: 95, needs: 2, has: 1, limit: 1, deadline: new Date(now) }),
  ...ofSource,
  locked
]

const files = (["pending", "completed", "failed"] as const).flatMap((status) =>
  [95, 7, undefined].map((size): FileRecord.FileRecord => ({ id: "f", name: "a", status, size, created_at: "" }))
)

/** How a step can end, what follows, and what is then known of Complete. */
interface Ended {
  readonly after: State
  /** Whether it may have been carried out. */
  readonly isOpen: boolean
  /** Whether the file was proven to be there. */
  readonly isProven: boolean
}

const left = <A, E>(errors: ReadonlyArray<E>): ReadonlyArray<Either.Either<A, E>> =>
  errors.map((error) => Either.left(error))

/** What the ledger may have, and our clock: right, or hours ahead. */
const foundsOf = (kind: Kind): ReadonlyArray<Found> => {
  const count = countOf(kind)
  const uploading = recordOf(kind, "f0", "uploading")
  const completing = recordOf(kind, "f0", "completing")
  const begun = receiptsOf(count - 1).map((receipts) => ({ record: uploading, receipts }))
  const strange = [uploading, completing].flatMap((record) => [
    { ...record, service: "https://other.test" },
    { ...record, mediaType: "text/other" },
    { ...record, fingerprint: { ...record.fingerprint, size: 94 } },
    { ...record, session: { ...record.session, urls: undefined } }
  ]).concat(kind === "single" ? [] : [recordOf(kind, "f0", "uploading", 96), recordOf(kind, "f0", "completing", 96)])
  return [
    { left: undefined, now },
    ...begun.map((left) => ({ left, now })),
    ...begun.map((left) => ({ left, now: now + 4 * hours })),
    ...[count - 1, count].flatMap(receiptsOf).map((receipts) => ({ left: { record: completing, receipts }, now })),
    ...strange.map((record) => ({ left: { record, receipts: [] }, now }))
  ]
}

const contents: ReadonlyArray<Exclude<FileLookup["content"], undefined>> = [
  Either.void,
  Either.left(serviceErrors.notFound(1)),
  Either.left(serviceErrors.unavailable(1))
]

/** Every end of the step of a state. */
const endsOf = (terms: Terms, kind: Kind, before: State, isOpen: boolean): ReadonlyArray<Ended> => {
  const plain = (after: State): Ended => ({ after, isOpen, isProven: false })
  switch (before._tag) {
    case "Done":
    case "Failed":
      return []
    case "Finding":
      return [
        plain(Decide.found(terms, before, Either.left(locked))),
        ...foundsOf(kind).map((found): Ended => ({
          after: Decide.found(terms, before, Either.right(found)),
          isOpen: found.left?.record.phase === "completing",
          isProven: false
        }))
      ]
    case "Proving":
      return [
        ...left<Proof, SourceError.SourceError>(ofSource),
        ...[Either.right(true), Either.right(false), ...left<boolean, SourceError.SourceError>(ofSource)].map((proof) =>
          Either.right(proof)
        )
      ].map((end) => plain(Decide.proved(terms, before, end)))
    case "Opening": {
      const fileId = `f${before.number}`
      const record = recordOf(kind, fileId, "uploading")
      const opened: ReadonlyArray<Opened> = [
        { session: sessionOf(kind, fileId, 0), record, now },
        // the server's clock shows that ours is ahead
        { session: sessionOf(kind, fileId, -4 * hours), record, now: now + 4 * hours },
        { session: sessionOf("multipart", fileId, 0, 96), record, now }
      ]
      return [...left<Opened, UploadError.UploadError>(ofCall), ...opened.map((one) => Either.right(one))].map((
        end
      ) => ({
        after: Decide.opened(terms, before, end),
        isOpen: false,
        isProven: false
      }))
    }
    case "Sending":
      return [
        ...left<Receipts, UploadError.UploadError>(ofPart),
        ...receiptsOf(before.session.count).map((receipts) => Either.right(receipts))
      ]
        .map((end) => plain(Decide.sent(terms, before, end)))
    case "Completing":
      return [
        // Rejected etags are reported only for an upload that was not completed before
        ...ofCall.map((error): Ended => ({
          after: Decide.completed(terms, before, Either.left(error)),
          isOpen: meaningOf(error).complete === "open" ||
            ("issues" in error && error.mayHaveArrived === true && !namesInvalidPart(error)),
          isProven: false
        })),
        ...files.map((file): Ended => ({
          after: Decide.completed(terms, before, Either.right(file)),
          isOpen: file.status === "failed",
          isProven: file.status !== "failed"
        }))
      ]
    case "Asking": {
      // Nobody asked in the name of Complete, or the answer settles it
      const wasOpen = isOpen && before.after === "Completing"
      return [
        ...ofCall.map((error): Ended => ({
          after: Decide.asked(terms, before, Either.left(error)),
          isOpen: wasOpen && error._tag !== "NotFound",
          isProven: false
        })),
        ...files.flatMap((file) =>
          (file.status === "pending" ? contents : [undefined]).map((content): Ended => {
            const isProven = file.status === "completed" || (content !== undefined && Either.isRight(content))
            const isMissing = content !== undefined && Either.isLeft(content) && content.left._tag === "NotFound"
            return {
              after: Decide.asked(terms, before, Either.right({ file, content })),
              isOpen: wasOpen && !isProven && !isMissing && file.status !== "failed",
              isProven
            }
          })
        )
      ]
    }
  }
}

const errorKeys = new WeakMap<UploadError.UploadError, string>()

/** All that decisions read of an error that a state keeps. */
const errorKey = (error: UploadError.UploadError): string => {
  const key = errorKeys.get(error) ?? JSON.stringify([
    meaningOf(error),
    wasAnswered(error),
    namesInvalidPart(error),
    error._tag === "UrlExpired" && error.reason,
    [1, 2].map((attempts) => isDoubtful(error, { partNumber: 1, etag: "e", size: 1, attempts }))
  ])
  errorKeys.set(error, key)
  return key
}

const receiptsKey = (receipts: Receipts | undefined): string =>
  receipts?.map(({ attempts, partNumber }) => `${partNumber}:${attempts}`).join() ?? ""

const recordKey = (record: UploadRecord.UploadRecord | undefined): string =>
  record === undefined ? "" : `${record.session.fileId} ${record.phase}`

/** What tells two states apart; a notice only says how one was come by. */
const keyOf = (state: State): string => {
  const { _tag, lastChances, number, record } = state
  const more = "session" in state
    ? [state.session.fileId, state.session.parts.length, state.session.inherited]
    : []
  switch (state._tag) {
    case "Finding":
    case "Done":
    case "Failed":
      break
    case "Proving":
      more.push(receiptsKey(state.left.receipts), state.spare?.session.fileId ?? "")
      break
    case "Opening":
      more.push(state.tries.calls, state.tries.once, recordKey(state.left?.record))
      break
    case "Sending":
      more.push(receiptsKey(state.receipts), receiptsKey(state.refused))
      break
    case "Completing":
      more.push(receiptsKey(state.receipts), String(state.repaired))
      break
    case "Asking":
      more.push(receiptsKey(state.receipts), String(state.repaired), state.after)
      more.push(state.because === undefined ? "" : errorKey(state.because))
  }
  return [_tag, number, lastChances, recordKey(record), ...more].join("|")
}

/** A step: where it began, how it ended, and what follows. */
interface Step extends Ended {
  readonly before: State
}

interface Node {
  readonly state: State
  readonly isOpen: boolean
  readonly next: Array<Node>
  /** The most steps to an end from here; undefined before it is known. */
  longest: number | undefined
}

const isEnd = ({ _tag }: State): boolean => _tag === "Done" || _tag === "Failed"

const longestFrom = (node: Node): number => {
  if (node.longest !== undefined) return node.longest
  // as long as this is not known, whoever comes back here has gone round
  node.longest = Number.POSITIVE_INFINITY
  node.longest = Math.max(1, ...node.next.map((next) => 1 + longestFrom(next)))
  return node.longest
}

/** Every step of every life, breadth first, and the most steps that one has. */
const search = (terms: Terms, kind: Kind): { readonly steps: ReadonlyArray<Step>; readonly longest: number } => {
  const steps: Array<Step> = []
  const first: Node = { state: Decide.initial, isOpen: false, next: [], longest: undefined }
  const known = new Map([["", first]])
  for (const node of known.values()) {
    for (const end of endsOf(terms, kind, node.state, node.isOpen)) {
      steps.push({ before: node.state, ...end })
      if (isEnd(end.after)) continue
      const key = `${keyOf(end.after)}|${end.isOpen}`
      const next = known.get(key) ?? { state: end.after, isOpen: end.isOpen, next: [], longest: undefined }
      known.set(key, next)
      node.next.push(next)
    }
  }
  return { steps, longest: longestFrom(first) }
}

const everyTerms: ReadonlyArray<Terms> = [source, { ...source, _tag: "OneShotSource" as const }].flatMap((source) =>
  [1, 2, 3].flatMap((maxSessions) =>
    [undefined, "i"].map((unfinished): Terms => ({
      source,
      options: { ...checked, maxSessions, unfinished },
      service: { baseUrl: "https://service.test", profile, allowInsecureHttp: false },
      algorithm: Checksum.crc32,
      policy: RetryPolicy.make()
    }))
  )
)

/** The laws of a step: whether it holds each. */
const laws: Readonly<Record<string, (step: Step, terms: Terms) => boolean>> = {
  "opens no more sessions than are allowed": ({ after }, { options }) => after.number <= options.maxSessions,
  "keeps what is recorded as long as Complete may have been carried out": ({ after, before, isOpen }) => {
    const session = "session" in before ? before.session : undefined
    if (!isOpen || session === undefined || session.parts.length === 0 || after._tag === "Done") return true
    return after.record !== undefined && after._tag !== "Opening" && after._tag !== "Sending"
  },
  "ends well only with a proof": ({ after, isProven }) => after._tag !== "Done" || isProven,
  "throws away nothing that was asked for by its id before its session has ended": ({ after, before }, { options }) => {
    if (options.unfinished === undefined || before._tag !== "Proving") return true
    if (before.left.record.session.urls === undefined) return true
    return after._tag === "Failed" ? after.record === before.record : after._tag === "Sending"
  }
}

/** Each failed attempt to open a session is a step; so are those that send and complete it, once more for doubtful parts. */
const mostStepsOfSession = 5 + 6

describe("the decisions of an upload, in every state with every end", () => {
  const every = everyTerms.flatMap((terms) => (["single", "multipart"] as const).map((kind) => ({ kind, terms })))
  for (const { kind, terms } of every) {
    const { maxSessions, unfinished } = terms.options
    const byId = unfinished === undefined ? "" : ", by its id"
    it(`hold the laws for a ${terms.source._tag} with ${maxSessions} ${kind} sessions${byId}`, () => {
      const { longest, steps } = search(terms, kind)
      const broken = Object.entries(laws).flatMap(([law, holds]) =>
        steps.filter((step) => !holds(step, terms)).map(({ after, before }) =>
          `${law}: ${before._tag} -> ${after._tag}`
        )
      )
      assert.deepStrictEqual([...new Set(broken)], [])
      // what an earlier process left is found and proven, and its session comes before those of this one
      assert.isAtMost(longest, 2 + mostStepsOfSession * (1 + maxSessions), "comes to an end")
      const all = ["Proving", "Opening", "Sending", "Completing", "Asking", "Done", "Failed"] as const
      assert.sameMembers([...new Set(steps.map(({ after }) => after._tag))], [...all])
    })
  }

  it("go on with a record alone only if its content was read or its state is final", () => {
    const [terms] = everyTerms
    assert.isDefined(terms)
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
