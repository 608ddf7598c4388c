import {
  Checksum,
  RetryPolicy,
  ServiceProfile,
  UploadOptions,
  type UploadSession,
  type UploadSource,
  UploadSources
} from "@stevedore/core"
import { Effect, Either } from "effect"
import type { UploadRecord } from "../../src/ledger/record.js"
import * as Decide from "../../src/upload/decide.js"
import type * as S from "../../src/upload/state.js"
import { parse, presigned } from "../fixtures/presignedUrls.js"
import { serviceErrors, sourceErrors, storageErrors } from "./golden.js"

// What is decided in each of some thousand situations: every error in every state, with what an earlier process had left
// and what was asked for. Each is one call of a pure function.

const now = Date.UTC(2030, 0, 1)
const limits = { ...ServiceProfile.standard.limits, minimumPartSize: 1 }
const profile = ServiceProfile.extend(ServiceProfile.standard, { limits })
const url = presigned({ seconds: 10_800 })

const repeatable: UploadSource = {
  ...UploadSources.fromBytes("a", new Uint8Array(95)),
  fingerprint: { kind: "file", size: 95, identity: "1" }
}
const checked = Effect.runSync(UploadOptions.check(repeatable, { strategy: "multipart" }, limits))

/** The same upload: asked for by its id or not, of a source that can be read again or not, with one session or three. */
const terms = Object.fromEntries(
  [undefined, "i"].flatMap((unfinished) =>
    ["RepeatableSource", "OneShotSource"].flatMap((kind) =>
      [1, 3].map((maxSessions): [string, S.Terms] => [
        `${unfinished === undefined ? "any" : "byId"} ${kind === "OneShotSource" ? "once" : "again"} max${maxSessions}`,
        {
          source: kind === "OneShotSource" ? { ...repeatable, _tag: "OneShotSource" } : repeatable,
          options: { ...checked, maxSessions, unfinished },
          service: { baseUrl: "https://service.test", profile, allowInsecureHttp: false },
          policy: RetryPolicy.make({ attempts: 3 }),
          algorithm: Checksum.crc32
        }
      ])
    )
  )
)

const recordOf = (phase: "uploading" | "completing", changes: Partial<UploadRecord> = {}): UploadRecord => ({
  version: 1,
  id: "i",
  service: "https://service.test",
  name: "a",
  mediaType: repeatable.mediaType,
  fingerprint: repeatable.fingerprint,
  checksumAlgorithm: "crc32",
  session: {
    fileId: "f0",
    uploadId: "u",
    clockOffset: 5,
    openedAt: now - 1,
    parts: 3,
    ...(phase === "uploading" ? { urls: [url, url, url] } : {})
  },
  phase,
  startedAt: now,
  ...changes
})

const { session: uploading } = recordOf("uploading")
const insecure = parse("http://storage.test/key?X-Amz-Signature=a")

const records: Readonly<Record<string, UploadRecord>> = {
  uploading: recordOf("uploading"),
  completing: recordOf("completing"),
  noUrls: recordOf("uploading", { session: recordOf("completing").session }),
  insecure: recordOf("uploading", { session: { ...uploading, urls: [url, insecure, url] } }),
  otherService: recordOf("uploading", { service: "https://other.test" }),
  otherFile: recordOf("uploading", { fingerprint: { kind: "file", size: 95, identity: "2" } }),
  otherType: recordOf("uploading", { mediaType: "text/other" }),
  otherSize: recordOf("completing", { fingerprint: { kind: "file", size: 94, identity: "1" } }),
  tooManyParts: recordOf("completing", { session: { ...recordOf("completing").session, parts: 96 } }),
  tooManyUrls: recordOf("uploading", {
    session: { ...uploading, parts: 96, urls: [url, ...Array<typeof url>(95).fill(url)] }
  })
}

const receiptsOf = (count: number, changes: Partial<S.Receipts[number]> = {}): S.Receipts =>
  [32, 32, 31].slice(0, count).map((size, index) => ({
    partNumber: index + 1,
    etag: "e",
    size,
    attempts: 1,
    ...(index === 1 ? changes : {})
  }))

const opened = (parts = 3, clockOffset = 7): S.Opened => {
  const session: UploadSession.MultipartSession = {
    _tag: "MultipartSession",
    fileId: "f1",
    uploadId: "u1",
    clockOffset,
    openedAt: now,
    extra: {},
    urls: [url, ...Array<typeof url>(parts - 1).fill(url)]
  }
  return { session, record: { ...recordOf("uploading"), id: "opened" }, now }
}

const range = { offset: 0, length: 32 }

const session = (parts: boolean, inherited: boolean, uploadId: string | undefined = "u"): S.Session => ({
  fileId: "f",
  uploadId,
  clockOffset: 0,
  openedAt: now,
  count: 3,
  parts: parts ? [1, 2, 3].map((partNumber) => ({ partNumber, range, url })) : [],
  inherited
})

const course = (number = 1, lastChances = 0): S.Course => ({
  record: recordOf("uploading", { id: "held" }),
  number,
  lastChances,
  notice: { _tag: "PartsRefused" }
})

const file = (status: "completed" | "failed" | "pending", size: number | undefined) => ({
  id: "g",
  name: "a",
  status,
  size,
  created_at: ""
})
const sizes = { same: 95, other: 94, none: undefined }

/** What stands of a state in the table: every decision in it, and nothing of what is only carried along. */
const summary = (state: S.State): string =>
  JSON.stringify(state, (key, value: unknown) => {
    if (key === "session") {
      const { count, fileId, inherited, openedAt, parts, uploadId } = Object(value)
      return [fileId, uploadId, inherited ? "inherited" : "own", openedAt - now, count, parts.length].join(" ")
    }
    if (key === "file") return Reflect.get(Object(value), "id")
    if (key === "record" || key === "left") {
      const record: unknown = key === "left" ? Reflect.get(Object(value), "record") : value
      return value === undefined
        ? "none"
        : `${Reflect.get(Object(record), "id")} ${Reflect.get(Object(record), "phase")}`
    }
    if (key === "ranges" || key === "parts" && Array.isArray(value)) return Array.isArray(value) ? value.length : value
    if (key === "receipts" || key === "refused") {
      return Array.isArray(value) ? value.map((receipt) => Reflect.get(Object(receipt), "partNumber")).join("") : value
    }
    if (key === "spare") return value === undefined ? "none" : "spare"
    if (value instanceof Error) {
      return [
        Reflect.get(value, "_tag"),
        Reflect.get(value, "attempts"),
        ...["fileId", "because", "operation", "what", "id", "expected", "actual"].flatMap((field) =>
          Reflect.has(value, field) ? [`${field} ${Reflect.get(value, field)}`] : []
        )
      ].join(" ")
    }
    return value === undefined ? "undefined" : value
  }) ?? ""

const errors = { ...serviceErrors, ...storageErrors, ...sourceErrors }

/** The decision in every situation, or in one of so many, by its name. */
export const decisions = (every = 1): Readonly<Record<string, string>> => {
  const rows: Record<string, string> = {}
  let index = 0
  const add = (name: string, state: () => S.State) => {
    // what is found is judged by the most conditions, and is few
    if (index++ % every === 0 || name.startsWith("Finding")) rows[name] = summary(state())
  }
  for (const [asked, of] of Object.entries(terms)) {
    const finding: S.Finding = { ...course(), _tag: "Finding", record: undefined }
    add(`Finding, ${asked}: unreadable`, () => Decide.found(of, finding, Either.left(sourceErrors.unreadable(1))))
    add(`Finding, ${asked}: nothing`, () => Decide.found(of, finding, Either.right({ left: undefined, now })))
    for (const [what, record] of Object.entries(records)) {
      for (const [when, time] of Object.entries({ "": now, " late": now + 11_000_000 })) {
        const left = { record, receipts: receiptsOf(2) }
        add(`Finding, ${asked}: ${what}${when}`, () => Decide.found(of, finding, Either.right({ left, now: time })))
        const opening: S.Opening = {
          ...course(),
          _tag: "Opening",
          tries: { calls: 0, requests: 0, once: 0 },
          after: undefined,
          left
        }
        add(
          `Opening, ${asked}: opened instead of ${what}${when}`,
          () => Decide.opened(of, opening, Either.right({ ...opened(3, 0), now: time }))
        )
      }
    }
    for (const parts of [true, false]) {
      for (const spare of [undefined, opened()]) {
        for (const count of [2, 3]) {
          const proving: S.Proving = {
            ...course(),
            _tag: "Proving",
            session: session(parts, true),
            left: { record: recordOf("uploading"), receipts: receiptsOf(count) },
            ranges: [range, range, range],
            spare
          }
          const name = `Proving, ${asked}, ${parts ? "parts" : "no parts"}, ${spare ? "spare" : "no spare"}, ${count}: `
          const proofs: Readonly<Record<string, S.Proof>> = {
            same: Either.right(true),
            other: Either.right(false),
            readOnce: Either.left(sourceErrors.readOnce(1)),
            unreadable: Either.left(sourceErrors.unreadable(1)),
            changed: Either.left(sourceErrors.changed(1))
          }
          for (const [proof, end] of Object.entries(proofs)) {
            add(name + proof, () => Decide.proved(of, proving, Either.right(end)))
          }
          add(`${name}failed`, () => Decide.proved(of, proving, Either.left(errors.unreadable(1))))
        }
      }
    }
    for (const number of [1, 3]) {
      for (const tries of [{ calls: 0, requests: 0, once: 0 }, { calls: 1, requests: 2, once: 1 }]) {
        const opening: S.Opening = { ...course(number), _tag: "Opening", tries, after: undefined, left: undefined }
        const name = `Opening, ${asked}, number ${number}, calls ${tries.calls}: `
        for (const [error, make] of Object.entries(serviceErrors)) {
          for (const attempts of [1, 2]) {
            add(`${name}${error} ${attempts}`, () => Decide.opened(of, opening, Either.left(make(attempts))))
          }
        }
        add(`${name}opened`, () => Decide.opened(of, opening, Either.right(opened())))
        add(`${name}too many parts`, () => Decide.opened(of, opening, Either.right(opened(96))))
      }
      for (const inherited of [true, false]) {
        for (const lastChances of [0, 1]) {
          for (const refused of [undefined, receiptsOf(3)]) {
            const sending: S.Sending = {
              ...course(number, lastChances),
              _tag: "Sending",
              session: session(true, inherited),
              receipts: [],
              refused
            }
            const name = `Sending, ${asked}, number ${number}, ${inherited ? "inherited" : "own"}, ` +
              `keys ${lastChances}, ${refused ? "repair" : "first"}: `
            for (const [error, make] of Object.entries(errors)) {
              add(name + error, () => Decide.sent(of, sending, Either.left(make(1))))
            }
            add(`${name}sent`, () => Decide.sent(of, sending, Either.right(receiptsOf(3))))
            add(
              `${name}sent without a record`,
              () => Decide.sent(of, { ...sending, record: undefined }, Either.right(receiptsOf(3)))
            )
          }
        }
      }
    }
  }
  for (const [asked, of] of Object.entries(terms)) {
    for (const parts of [true, false]) {
      for (const inherited of [true, false]) {
        for (const repaired of [true, false]) {
          for (
            const [doubt, changes] of Object.entries({
              sure: {},
              twice: { attempts: 2 },
              perhaps: { perhapsRepeated: true }
            })
          ) {
            const sent = {
              ...course(),
              session: session(parts, inherited),
              receipts: receiptsOf(3, changes),
              repaired
            }
            const name = `${asked}, ${parts ? "parts" : "no parts"}, ${inherited ? "inherited" : "own"}, ` +
              `${repaired ? "repaired" : "first"}, ${doubt}: `
            for (const [error, make] of Object.entries(serviceErrors)) {
              for (const attempts of [1, 2]) {
                add(
                  `Completing, ${name}${error} ${attempts}`,
                  () => Decide.completed(of, { ...sent, _tag: "Completing" }, Either.left(make(attempts)))
                )
              }
            }
            for (const [size, bytes] of Object.entries(sizes)) {
              for (const status of ["completed", "failed", "pending"] as const) {
                add(
                  `Completing, ${name}${status} ${size}`,
                  () => Decide.completed(of, { ...sent, _tag: "Completing" }, Either.right(file(status, bytes)))
                )
              }
            }
            add(`Completing, ${name}single failed`, () =>
              Decide.completed(
                of,
                { ...sent, _tag: "Completing", session: session(parts, inherited, undefined) },
                Either.right(file("failed", 95))
              ))
            const becauses = {
              none: undefined,
              gateway: serviceErrors.gateway(2),
              shape: serviceErrors.shape(1),
              lost: serviceErrors.serviceLost(1)
            }
            for (const [why, because] of Object.entries(becauses)) {
              for (const after of ["Completing", "Sending", "Restart"] as const) {
                const asking: S.Asking = { ...sent, _tag: "Asking", after, because }
                const ends: Readonly<Record<string, Parameters<typeof Decide.asked>[2]>> = {
                  missing: Either.left(serviceErrors.notFound(1)),
                  unavailable: Either.left(serviceErrors.unavailable(1)),
                  there: Either.right({ file: file("completed", 95), content: undefined }),
                  otherSize: Either.right({ file: file("completed", 94), content: undefined }),
                  failed: Either.right({ file: file("failed", 95), content: undefined }),
                  read: Either.right({ file: file("pending", 95), content: Either.void }),
                  noContent: Either.right({
                    file: file("pending", 95),
                    content: Either.left(serviceErrors.notFound(1))
                  }),
                  unread: Either.right({
                    file: file("pending", 95),
                    content: Either.left(serviceErrors.unavailable(1))
                  })
                }
                for (const [answer, end] of Object.entries(ends)) {
                  add(`Asking, ${name}${why} ${after} ${answer}`, () => Decide.asked(of, asking, end))
                }
              }
            }
          }
        }
      }
    }
  }
  return rows
}
