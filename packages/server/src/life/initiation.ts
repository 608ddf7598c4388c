/** An upload begins: its row, the upload at the store, and the URLs of its client. */
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import * as UploadPlan from "@stevedore/core/UploadPlan"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Principal } from "../Authorize.js"
import type { Declaration, MultipartSession, SingleSession } from "../parts/files.js"
import { chooseParts } from "../parts/files.js"
import * as Identifiers from "../parts/identifiers.js"
import * as ServiceRefused from "../ServiceRefused.js"
import { answered, ofFile, overQuota, unknownFile } from "./refusals.js"
import { came, type State } from "./state.js"

// a few milliseconds of work
const SIGNED_IN_ONE_GO = 64

const signedHeaders = (
  { store, terms: { encryption, signed } }: State,
  { size, type }: Declaration
): Readonly<Record<string, string>> => {
  const declared = { "content-length": String(size), "content-type": type }
  return signed.reduce<Readonly<Record<string, string>>>((headers, name) => {
    const value = declared[name]
    return value === undefined ? headers : { ...headers, [name]: value }
  }, { ...encryption, ...store.putHeaders })
}

/** Of each part its own length: clients make parts as `UploadPlan.ranges` does, and storage refuses any other. */
const headersOfParts = (
  { terms: { partHeaders, signed } }: State,
  size: number,
  parts: number
): Either.Either<ReadonlyArray<Readonly<Record<string, string>>>, ServiceRefused.ServiceRefused> =>
  signed.includes("content-length")
    ? Either.mapLeft(
      Either.map(
        UploadPlan.ranges(size, parts, ServiceProfile.standard.limits),
        Arr.map(({ length }) => ({ ...partHeaders, "content-length": String(length) }))
      ),
      ({ atLeast, atMost }) =>
        ServiceRefused.invalid("parts", `${parts} parts of ${size} bytes: expected ${atLeast} to ${atMost}`)
    )
    : Either.right([])

const checkRoom = ({ store }: State, { size }: Declaration) =>
  Effect.gen(function*() {
    const room = yield* store.room ?? Effect.succeed(Infinity)
    if (size > room) {
      return yield* ServiceRefused.unavailable({
        code: "InsufficientStorage",
        message: `${size} bytes were declared, and there is room for ${room}`
      })
    }
  })

const open = (state: State, who: Principal, declared: Declaration, kind: "single" | "multipart") =>
  Effect.gen(function*() {
    const { hooks, table, terms } = state
    yield* checkRoom(state, declared)
    yield* hooks.admit(who, declared)
    const id = yield* Identifiers.recordId
    const key = terms.keyOf(who, id)
    const begun = kind === "single" ? "waiting" : "opening"
    const isHeld = yield* table.open({
      id,
      tenant: who.tenant,
      owner: { id: who.id, name: who.name },
      name: declared.name,
      mediaType: declared.type,
      size: declared.size,
      metadata: declared.metadata,
      kind,
      key,
      state: begun,
      lifetimeMillis: terms.lifetimeMillis
    }, terms.quotaOf(who))
    if (!isHeld) return yield* overQuota()
    yield* came(begun)
    return { id, key }
  })

export const initiate = (state: State) =>
(
  who: Principal,
  declared: Declaration
): Effect.Effect<SingleSession, ServiceRefused.ServiceRefused> =>
  answered(Effect.gen(function*() {
    const { id, key } = yield* open(state, who, declared, "single")
    const uploadUrl = yield* state.store.presign({
      method: "PUT",
      key,
      headers: signedHeaders(state, declared),
      expiresIn: state.terms.singleSeconds
    })
    return { fileId: id, uploadUrl }
  }))

/** The URLs of the parts, in their order. */
const urlsOf = (
  { store, terms }: State,
  { key, uploadId }: { readonly key: string; readonly uploadId: string },
  headers: ReadonlyArray<Readonly<Record<string, string>>>,
  parts: number
) =>
  Effect.map(
    Effect.forEach(
      Arr.chunksOf(Arr.range(1, parts), SIGNED_IN_ONE_GO),
      (partNumbers) =>
        Effect.zipLeft(
          Effect.forEach(partNumbers, (partNumber) =>
            store.presign({
              method: "PUT",
              key,
              part: { uploadId, partNumber },
              headers: headers[partNumber - 1] ?? terms.partHeaders,
              expiresIn: terms.urlSeconds
            })),
          // other requests are answered in between
          parts > SIGNED_IN_ONE_GO ? Effect.sleep(0) : Effect.void
        )
    ),
    (urls) => urls.flat()
  )

export const initiateLarge = (state: State) =>
(
  who: Principal,
  declared: Declaration,
  wished: number | undefined
): Effect.Effect<MultipartSession, ServiceRefused.ServiceRefused> =>
  answered(Effect.gen(function*() {
    const { store, table, terms } = state
    const parts = wished ?? chooseParts(declared.size, terms.sizes)
    if (parts > declared.size) {
      return yield* ServiceRefused.invalid("parts", `${parts} parts of ${declared.size} bytes: some would be empty`)
    }
    const headers = yield* headersOfParts(state, declared.size, parts)
    // the row first: whatever the store opens then can be found by its key
    const { id, key } = yield* open(state, who, declared, "multipart")
    const uploadId = yield* Effect.mapError(
      store.createUpload(key, { contentType: declared.type }),
      (refusal) => refusal.status >= 500 ? ServiceRefused.unavailable(ofFile(id, refusal)) : refusal
    )
    if (!(yield* table.opened(id, uploadId))) return yield* unknownFile()
    return { fileId: id, uploadId, urls: yield* urlsOf(state, { key, uploadId }, headers, parts) }
  }))
