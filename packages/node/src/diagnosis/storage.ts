import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Checksum from "@stevedore/core/Checksum"
import { contentHeaders, ObjectStorage, putHeaders } from "@stevedore/core/ObjectStorage"
import * as Measure from "@stevedore/core/parts/measure"
import type { PresignedUrl } from "@stevedore/core/PresignedUrl"
import { reveal } from "@stevedore/core/PresignedUrl"
import { ServiceApi } from "@stevedore/core/ServiceApi"
import * as UploadPlan from "@stevedore/core/UploadPlan"
import type { PartReceipt } from "@stevedore/core/UploadSession"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as NodeChecksum from "../NodeChecksum.js"
import * as Cors from "./cors.js"
import type { Check, Found, Needs } from "./trial.js"
import * as Trial from "./trial.js"
import { present, problemFrom } from "./trial.js"

const describeUrl = (url: PresignedUrl, now: number): string => {
  const life = Option.match(url.deadline, {
    onNone: () => "has no stated expiry",
    onSome: (deadline) =>
      `${url.isAssumed ? "is assumed to expire" : "expires"} in ${
        Measure.duration(Duration.millis(Math.max(0, deadline.getTime() - now)))
      }`
  })
  return `URL at ${url.origin} ${life}, signs ${url.signedHeaders.join(", ") || "no header"}`
}

const put = (
  found: Found,
  asked: {
    readonly url: PresignedUrl
    readonly bytes: Uint8Array
    readonly range: UploadPlan.ByteRange
    readonly headers: Readonly<Record<string, string>>
    readonly clockOffset: number
  }
) =>
  Effect.scoped(Effect.gen(function*() {
    const storage = yield* ObjectStorage
    const section = yield* Trial.sectionOf(Trial.singleName, asked.bytes, asked.range)
    const { bytes, clockOffset, range: { length, offset }, url } = asked
    const ofContent = yield* contentHeaders(
      url,
      (observe) => Effect.sync(() => observe(bytes.subarray(offset, offset + length)))
    )
    const headers = { ...asked.headers, ...ofContent }
    return yield* storage.put({
      url,
      section,
      name: Trial.singleName,
      headers,
      clockOffset,
      attempt: 1,
      onSent: () => {}
    })
  }))

const whole = (bytes: Uint8Array): UploadPlan.ByteRange => ({ offset: 0, length: bytes.byteLength })

export const initiate: Check<Needs> = {
  id: "initiate",
  title: "initiate",
  remedy: "Compare the profile's paths and field names with the service's reference.",
  needs: ["reached"],
  run: (found) =>
    Effect.gen(function*() {
      const api = yield* ServiceApi
      const { mediaType } = Trial
      const now = yield* Clock.currentTimeMillis
      const size = found.singleContent.byteLength
      const single = yield* problemFrom(api.initiateUpload({ name: Trial.singleName, mediaType, size }))
      found.single = single
      found.initiatedAt = (now + (yield* Clock.currentTimeMillis)) / 2
      found.left.push({ fileId: single.fileId, kind: "session", bytes: size })
      const largeSize = found.largeContent.byteLength
      const multipart = yield* problemFrom(
        api.initiateLargeUpload({ name: Trial.largeName, mediaType, size: largeSize, parts: Option.some(2) })
      )
      found.multipart = multipart
      found.left.push({ fileId: multipart.fileId, kind: "session", bytes: largeSize })
      return { found: `${describeUrl(single.url, now + single.clockOffset)}; ${multipart.urls.length} part URLs` }
    })
}

export const singlePut: Check<Needs> = {
  id: "single-put",
  title: "single PUT",
  remedy: "Compare the profile's encryptionHeaders with what the service signs.",
  needs: ["single"],
  run: (found) =>
    Effect.gen(function*() {
      const { clockOffset, url } = yield* present(found.single)
      const { encryptionHeaders } = found.service.profile
      const headers = yield* problemFrom(
        putHeaders({ url, kind: "single", mediaType: Trial.mediaType, encryptionHeaders })
      )
      const bytes = found.singleContent
      found.singleReceipt = yield* problemFrom(put(found, { url, bytes, range: whole(bytes), headers, clockOffset }))
      return { found: `accepted with ${Object.keys(headers).join(", ")}` }
    })
}

export const encryption: Check<Needs> = {
  id: "encryption",
  title: "PUT without encryption",
  remedy:
    "Have the service sign the encryption header, or the bucket policy require it: files could be stored unencrypted.",
  needs: ["single", "singleReceipt"],
  run: (found) =>
    Effect.gen(function*() {
      const { clockOffset, url } = yield* present(found.single)
      const bytes = found.singleContent
      const headers = { "content-type": Trial.mediaType }
      const answer = yield* Effect.either(put(found, { url, bytes, range: whole(bytes), headers, clockOffset }))
      if (answer._tag === "Right") return yield* Trial.failed("storage accepted it")
      const { _tag } = answer.left
      return _tag === "SignatureMismatch403" || _tag === "StorageForbidden" || _tag === "SignedHeaderMissing"
        ? { found: "refused, as it should be" }
        : yield* problemFrom(Effect.fail(answer.left))
    })
}

export const partPut: Check<Needs> = {
  id: "part-put",
  title: "part PUT",
  remedy: "Run it again; if it fails at the same part, give the storage's operator the request id.",
  needs: ["multipart"],
  run: (found) =>
    Effect.gen(function*() {
      const { clockOffset, urls } = yield* present(found.multipart)
      const { encryptionHeaders, limits } = found.service.profile
      const bytes = found.largeContent
      const ranges = yield* problemFrom(UploadPlan.ranges(bytes.byteLength, urls.length, limits))
      const before = yield* Clock.currentTimeMillis
      const receipts = yield* Effect.forEach(urls, (url, index) =>
        Effect.gen(function*() {
          const range = yield* present(ranges[index])
          const headers = yield* problemFrom(
            putHeaders({ url, kind: "part", mediaType: Trial.mediaType, encryptionHeaders })
          )
          const { etag } = yield* problemFrom(put(found, { url, bytes, range, headers, clockOffset }))
          return { partNumber: index + 1, etag, size: range.length, attempts: 1 } satisfies PartReceipt
        }))
      const took = Math.max(1, (yield* Clock.currentTimeMillis) - before)
      found.partReceipts = receipts
      found.speed = (bytes.byteLength / took) * 1000
      return { found: `${receipts.length} parts accepted, ${Measure.bytes(bytes.byteLength)}` }
    })
}

export const etag: Check<Needs> = {
  id: "etag",
  title: "ETag and checksum",
  remedy: "A proxy may have changed the bytes: try another network.",
  needs: ["singleReceipt"],
  run: (found) =>
    Effect.gen(function*() {
      const { checksums } = yield* present(found.singleReceipt)
      const algorithms = Object.keys(checksums)
      const ours = Checksum.ofBytes(NodeChecksum.crc32, found.singleContent)
      const theirs = checksums[ours.algorithm]
      if (theirs !== undefined && theirs !== ours.value) {
        return yield* Trial.failed(`storage computed the crc32 ${theirs}, but here it is ${ours.value}`)
      }
      return {
        found: algorithms.length === 0
          ? "ETag returned, no checksum"
          : `ETag returned, checksums: ${algorithms.join(", ")}`
      }
    })
}

const corsRemedy = (origin: string) =>
  `Add a CORS rule to the bucket: AllowedOrigins ${origin}, AllowedMethods PUT and GET, AllowedHeaders *, ExposeHeaders ETag.`

/** Whether web pages from this origin can upload. */
export const cors = (origin: Option.Option<string>): Check<Needs> => ({
  id: "cors",
  title: "CORS for pages",
  remedy: corsRemedy(Option.getOrElse(origin, () => "of your pages")),
  needs: ["single", "multipart"],
  run: (found) =>
    Effect.gen(function*() {
      if (Option.isNone(origin)) return { found: "skipped: no origin of pages is given", untried: true }
      const [single, part] = [yield* present(found.single), yield* present(found.multipart)]
      const names = ["content-type", ...Object.keys(found.service.profile.encryptionHeaders)]
      for (const [url, headers] of [[single.url, names], [part.urls[0], ["content-type"]]] as const) {
        const answer = yield* Trial.headersOf(
          HttpClientRequest.make("OPTIONS")(reveal(url)).pipe(HttpClientRequest.setHeaders({
            origin: origin.value,
            "access-control-request-method": "PUT",
            "access-control-request-headers": headers.join(",")
          }))
        )
        const refused = Cors.preflightProblem(answer, { origin: origin.value, method: "PUT", headers })
        if (refused !== "") return yield* Trial.failed(refused)
      }
      const actual = yield* Trial.headersOf(
        HttpClientRequest.put(reveal(single.url)).pipe(
          HttpClientRequest.setHeaders({ origin: origin.value, ...found.service.profile.encryptionHeaders }),
          HttpClientRequest.bodyUint8Array(found.singleContent, Trial.mediaType)
        )
      )
      const hidden = Cors.notExposed(actual.headers, ["ETag"])
      if (hidden.length > 0) {
        return yield* Trial.failed(`pages cannot read ${hidden.join(", ")}, so their uploads cannot complete`)
      }
      const more = Cors.notExposed(actual.headers, ["Date", "x-amz-request-id"])
      return {
        found: `${origin.value} may PUT and read the ETag`,
        note: more.length === 0 ? undefined : `Expose ${more.join(" and ")} too: deadlines and support need them.`
      }
    })
})
