import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Downloads from "@stevedore/core/Downloads"
import * as Measure from "@stevedore/core/parts/measure"
import * as RateLimit from "@stevedore/core/RateLimit"
import { ServiceApi } from "@stevedore/core/ServiceApi"
import type { ServiceWithToken } from "@stevedore/core/ServiceConfig"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Buffer } from "node:buffer"
import { clock } from "./clock.js"
import * as Storage from "./storage.js"
import type { Check, Finding, Found, Needs } from "./trial.js"
import * as Trial from "./trial.js"
import { present, problemFrom } from "./trial.js"

/** What else to check. */
export interface Extras {
  /** A file to upload later, with its size in bytes. It is not sent. */
  readonly file: Option.Option<{ readonly path: string; readonly size: number }>
  /** The origin of web pages that will upload. */
  readonly origin: Option.Option<string>
}

const tokenRequest = ({ baseUrl, profile }: ServiceWithToken) =>
  HttpClientRequest.get(`${baseUrl}${profile.paths.tokenInfo}`)

const connection: Check<Needs> = {
  id: "connection",
  title: "DNS and TLS",
  remedy: "Check the network.",
  needs: [],
  run: (found) =>
    Effect.map(
      found.proxy === undefined
        ? Trial.reach(new URL(found.service.baseUrl))
        : Trial.reachBy(found.proxy, tokenRequest(found.service)),
      (words): Finding => {
        found.reached = true
        return { found: words }
      }
    )
}

const token: Check<Needs> = {
  id: "token",
  title: "token",
  remedy: "Ask the service's administrator for another token.",
  needs: ["reached"],
  run: () =>
    Effect.gen(function*() {
      const info = yield* problemFrom(Effect.flatMap(ServiceApi, (api) => api.tokenInfo))
      if (Option.isNone(info)) return { found: "this service does not tell" }
      const { id, subdomain } = info.value
      return {
        found: `accepted: ${[subdomain, id === undefined ? undefined : `(${id})`].filter(Boolean).join(" ")}`,
        note: "The service does not say when it expires."
      }
    })
}

const rateLimit: Check<Needs> = {
  id: "rate-limit",
  title: "rate limit",
  remedy: "Wait until the window ends, or use this workspace from fewer programs at once.",
  needs: ["reached"],
  run: () =>
    Effect.flatMap(Effect.flatMap(ServiceApi, (api) => api.rateLimit), (status) =>
      Option.match(status, {
        onNone: () => Effect.succeed<Finding>({ found: "the service reports none" }),
        onSome: (known) => {
          const words = `${known.remaining} of ${known.limit} calls left in this window`
          return known.remaining === 0
            ? Trial.failed(words)
            : Effect.succeed({
              found: words,
              note: RateLimit.isNearEnd(known)
                ? "Few calls are left: other programs use this workspace too."
                : undefined
            })
        }
      }))
}

const complete: Check<Needs> = {
  id: "complete",
  title: "Complete",
  remedy: "Run it again; if it fails again, give the service's operator the request id.",
  needs: ["single", "multipart", "singleReceipt", "partReceipts"],
  run: (found) =>
    Effect.gen(function*() {
      const api = yield* ServiceApi
      const [single, multipart] = [yield* present(found.single), yield* present(found.multipart)]
      const etag = found.singleReceipt?.etag
      yield* problemFrom(api.completeUpload({ ...single, etag, size: found.singleContent.byteLength }))
      Trial.settle(found.left, single.fileId)
      found.fileId = single.fileId
      const parts = yield* present(found.partReceipts)
      yield* problemFrom(api.completeLargeUpload({ ...multipart, parts }))
      Trial.settle(found.left, multipart.fileId)
      found.fileId = multipart.fileId
      return { found: "single and multipart" }
    })
}

const contentBehind = (found: Found): Uint8Array =>
  found.fileId === found.multipart?.fileId ? found.largeContent : found.singleContent

const inspect: Check<Needs> = {
  id: "inspect",
  title: "inspect",
  remedy: "Give the service's operator the id of the file.",
  needs: ["fileId"],
  run: (found) =>
    Effect.gen(function*() {
      const fileId = yield* present(found.fileId)
      const { checksum, name, size, status } = yield* problemFrom(Effect.flatMap(ServiceApi, (api) => api.file(fileId)))
      const content = contentBehind(found)
      const expected = content.byteLength
      if (size !== undefined && size !== expected) {
        return yield* Trial.failed(`its record says ${size} bytes, but ${expected} were sent`)
      }
      const ours = checksum && (yield* Trial.sameOf(checksum, content))
      if (checksum && ours && ours !== checksum.value) {
        return yield* Trial.failed(
          `its record says the ${checksum.algorithm} ${checksum.value}, but here it is ${ours}`
        )
      }
      return status === undefined
        ? yield* Trial.failed(`its record has no status: ${name} is there, but whether it is complete is not known`)
        : { found: `${name} is ${status}` }
    })
}

const download: Check<Needs> = {
  id: "download",
  title: "download and compare",
  remedy: "If the answer was not the file, try the profile's other form of download: content or link.",
  needs: ["fileId"],
  run: (found) =>
    Effect.gen(function*() {
      const fileId = yield* present(found.fileId)
      const chunks = yield* problemFrom(Stream.runCollect(Downloads.stream(fileId)))
      const bytes = Buffer.concat([...chunks])
      return bytes.equals(contentBehind(found))
        ? { found: `${Measure.bytes(bytes.byteLength)}, byte for byte identical` }
        : yield* Trial.failed(`received ${bytes.byteLength} bytes, which differ from what was sent`)
    })
}

const lifeOf = (found: Found): number => {
  const seconds = found.service.profile.urlLifetimeSeconds
  const url = found.multipart?.urls[0]
  return url === undefined ? seconds : Option.getOrElse(
    Option.zipWith(url.deadline, url.signedAt, (end, start) => (end.getTime() - start.getTime()) / 1000),
    () => seconds
  )
}

const throughput = (file: Extras["file"]): Check<Needs> => ({
  id: "throughput",
  title: "throughput",
  remedy: "Use a faster connection, or split the file.",
  needs: ["speed"],
  run: (found) =>
    Effect.gen(function*() {
      const speed = yield* present(found.speed)
      const life = lifeOf(found)
      const most = found.service.profile.limits.multipartSize
      const largest = Math.min(most, Math.floor(speed * life))
      const words = `${Measure.speed(speed)} over one connection: up to ${Measure.bytes(largest)}${
        largest === most ? " (the service's limit)" : ""
      } in the ${Measure.duration(Duration.seconds(life))} before the URLs expire`
      if (Option.isNone(file)) return { found: words }
      const { path, size } = file.value
      if (size === 0) {
        return yield* Trial.failed(`${path} is empty`, "The service does not accept empty files.")
      }
      if (size > most) {
        return yield* Trial.failed(
          `${path} has ${Measure.bytes(size)}, but the limit is ${Measure.bytes(most)}`,
          "Split the file."
        )
      }
      return size <= largest
        ? { found: `${words}. ${path} takes about ${Measure.duration(Duration.seconds(Math.max(1, size / speed)))}` }
        : yield* Trial.failed(`${words}. ${path} has ${Measure.bytes(size)}`)
    })
})

/** The checks after the configuration, in order. */
export const all = (extras: Extras): ReadonlyArray<Check<Needs>> => [
  connection,
  token,
  rateLimit,
  Storage.initiate,
  clock,
  Storage.singlePut,
  Storage.encryption,
  Storage.partPut,
  Storage.etag,
  Storage.cors(extras.origin),
  complete,
  inspect,
  download,
  throughput(extras.file)
]
