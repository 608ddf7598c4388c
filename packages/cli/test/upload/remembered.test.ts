import { assert, describe, it } from "@effect/vitest"
import { ServiceApi, ServiceError } from "@stevedore/core"
import { Effect, Option } from "effect"
import type { UploadedFile } from "../../src/print/schemas.js"
import * as Remembered from "../../src/upload/remembered.js"

const day = 86_400_000

const now = 400 * day

const iso = (millis: number): string => Remembered.isoOf(millis) ?? ""

/** A file by how many days ago it was uploaded, and the service was last asked for it. */
const uploaded = (uploadedBefore: number, checkedBefore: number, path = "/a"): UploadedFile => ({
  path,
  name: "a",
  mediaType: "text/plain",
  size: 3,
  modified: null,
  fingerprint: { kind: "file", size: 3, modified: 1.5, identity: "1:2" },
  service: "http://127.0.0.1",
  fileId: "one",
  checksum: null,
  uploadedAt: iso(now - uploadedBefore * day),
  checkedAt: iso(now - checkedBefore * day)
})

const many = (count: number, make: (index: number) => UploadedFile) =>
  Array.from({ length: count }, (_, index) => ({ index, known: make(index) }))

describe("what the service is asked for", () => {
  it("is every file of up to 100", () => {
    assert.strictEqual(Remembered.worthAsking(many(100, () => uploaded(0.1, 0.1)), now).size, 100)
  })

  it("is 100 of thousands that it had within a day, those first that it was not asked for the longest", () => {
    const files = many(5000, (index) => uploaded(0.5, (index * 7919) % 5000 / 10_000))
    const asked = [...Remembered.worthAsking(files, now)]
    assert.lengthOf(asked, 100)
    const oldest = files.filter(({ known }) => known.checkedAt <= iso(now - 0.49 * day))
    assert.isTrue(oldest.slice(0, 50).every((one) => asked.includes(one)))
  })

  it.each<readonly [uploaded: number, checked: number, due: boolean]>([
    [1.1, 1.1, true],
    [0.9, 0.9, false],
    [10, 4, false],
    [10, 5.1, true],
    [300, 29, false],
    [300, 31, true],
    // a clock that was ahead
    [1, -2, true]
  ])("uploaded %d days ago and last there %d days ago: due is %s", (uploadedBefore, checkedBefore, due) => {
    const files = [
      ...many(200, (index) => uploaded(0.95, 0.95, `/${index}`)),
      { index: -1, known: { ...uploaded(uploadedBefore, checkedBefore), path: "/due" } }
    ]
    // what is due is asked for beside nothing else that is newer
    const asked = Remembered.worthAsking(files.reverse(), now)
    const [first] = files
    if (due) assert.isTrue(first !== undefined && asked.has(first))
    else assert.isAtMost(asked.size, 100)
  })

  it("is everything that is due, however much", () => {
    assert.strictEqual(Remembered.worthAsking(many(5000, () => uploaded(2, 2)), now).size, 5000)
  })
})

describe("what is remembered", () => {
  it("is unchanged by a new inode, but not by a new size or date", () => {
    const file = uploaded(1, 1)
    const { fingerprint } = file
    assert.isTrue(Remembered.isUnchanged(file, { ...fingerprint, identity: "7:8" }))
    assert.isFalse(Remembered.isUnchanged(file, { ...fingerprint, modified: 1.75 }))
    assert.isFalse(Remembered.isUnchanged({ ...file, size: 4 }, fingerprint))
  })

  it("is another file if it is to have another name or media type, if one is given", () => {
    const file = uploaded(1, 1)
    assert.isTrue(Remembered.isDescribedAs(file, {}))
    assert.isTrue(Remembered.isDescribedAs(file, { name: "a", mediaType: "text/plain" }))
    assert.isFalse(Remembered.isDescribedAs(file, { name: "b" }))
    assert.isFalse(Remembered.isDescribedAs(file, { mediaType: "text/html" }))
  })

  it.effect("is gone once the service has it no more, forbids it, or says that it failed or has another size", () =>
    Effect.gen(function*() {
      const answer = { operation: "file", issues: [] }
      const record = { id: "one", name: "a", created_at: "2026-01-01", status: "completed", size: 3 } as const
      const stillThere = (found: ReturnType<ServiceApi.Service["file"]>) =>
        Effect.provide(Remembered.stillThere(uploaded(9, 9)), ServiceApi.layerNoop({ file: () => found }))
      const found = Option.getOrThrow(yield* stillThere(Effect.succeed(record)))
      assert.strictEqual(found.checkedAt, iso(0))
      const gone = [
        Effect.succeed({ ...record, size: 4 }),
        Effect.succeed({ ...record, status: "failed" } as const),
        Effect.fail(new ServiceError.NotFound({ ...answer, status: 404 })),
        Effect.fail(new ServiceError.Forbidden({ ...answer, status: 403 }))
      ]
      for (const one of gone) assert.deepStrictEqual(yield* stillThere(one), Option.none())
      const refused = new ServiceError.Unauthorized({ ...answer, status: 401 })
      assert.strictEqual(yield* Effect.flip(stillThere(Effect.fail(refused))), refused)
    }))
})
