import { assert, layer } from "@effect/vitest"
import * as S3ObjectStore from "@stevedore/testing/S3ObjectStore"
import { Effect, Layer } from "effect"
import { Buffer } from "node:buffer"
import { credential, encryptionHeaders, settings } from "../../../../testing/test/support/storeSettings.js"
import type { Engine } from "../support/engine.js"
import * as World from "../support/world.js"

const store = S3ObjectStore.layer({
  endpoint: settings.endpoint,
  bucket: "stevedore-page",
  credential,
  encryptionHeaders,
  createBucket: true
}).pipe(Layer.orDie)

const MiB = 1024 * 1024

// what the page makes of a name and a size
const generated = (size: number): Uint8Array => {
  const block = new Uint32Array(Math.ceil(Math.min(size, MiB) / 4))
  let state = 1
  for (let index = 0; index < block.length; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    block[index] = state
  }
  const bytes = Buffer.from(block.buffer)
  return Buffer.concat(Array.from({ length: Math.ceil(size / bytes.byteLength) }, () => bytes)).subarray(0, size)
}

/** A page in any browser against a store that nobody here wrote: its own pre-signed URLs, its own CORS. */
export const realStorage = (engine: Layer.Layer<Engine>, browser: string) =>
  layer(engine, { excludeTestServices: true, timeout: "3 minutes" })(
    `a page in ${browser} with a real store`,
    (it) => {
      it.scoped("uploads a file whose URL signs encryption headers", () =>
        Effect.gen(function*() {
          const world = yield* World.make({ store, encryptionHeaders })
          const size = 3 * MiB + 17
          const outcome = World.uploaded(
            yield* World.upload(world.page, { generate: { name: "film.mp4", size }, encryptionHeaders })
          )
          assert.strictEqual(Buffer.compare(yield* world.sandbox.stored(outcome.id), generated(size)), 0)
          assert.deepStrictEqual((yield* world.sandbox.report).breaches, [])
        }))

      it.scoped("uploads a file in four parts, whose etags the page can read", () =>
        Effect.gen(function*() {
          const world = yield* World.make({ store, encryptionHeaders })
          const size = 21 * MiB
          const outcome = World.uploaded(
            yield* World.upload(world.page, {
              generate: { name: "film.mp4", size },
              options: { strategy: "multipart", parts: 4 },
              encryptionHeaders
            })
          )
          assert.strictEqual(outcome.sent.parts, 4)
          assert.strictEqual(Buffer.compare(yield* world.sandbox.stored(outcome.id), generated(size)), 0)
          assert.deepStrictEqual((yield* world.sandbox.report).breaches, [])
        }))

      it.scoped("fails with SignedHeaderMissing and names a signed header that the page lacks", () =>
        Effect.gen(function*() {
          const world = yield* World.make({ store, encryptionHeaders })
          const outcome = World.failed(yield* World.upload(world.page, { generate: { name: "notes.txt", size: 5 } }))
          assert.strictEqual(outcome.error, "SignedHeaderMissing")
          assert.include(outcome.message, "x-amz-server-side-encryption-aws-kms-key-id")
        }))

      it.scoped("fails and stores nothing if a signed header has another value", () =>
        Effect.gen(function*() {
          const world = yield* World.make({ store, encryptionHeaders })
          const outcome = World.failed(
            yield* World.upload(world.page, {
              generate: { name: "notes.txt", size: 5 },
              encryptionHeaders: { ...encryptionHeaders, "x-amz-server-side-encryption": "AES256" },
              retry: { attempts: 3 }
            })
          )
          // this store sends no CORS headers with a refusal: the page cannot tell it from a broken line
          assert.include(["SignatureMismatch403", "ConnectionFailed"], outcome.error)
          assert.deepStrictEqual(yield* world.sandbox.files, [])
        }))
    }
  )
