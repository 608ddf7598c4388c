import { assert, describe, it } from "@effect/vitest"
import { FileRecord, ListRecords } from "@stevedore/core"
import { Either, FastCheck, Schema } from "effect"

const record: FileRecord.FileRecord = { id: "f1", name: "a.bin", status: "pending", created_at: "2030-01-02T03:04:05Z" }

describe("FileRecord.isThere", () => {
  it("a file counts as stored while it is processed, and if its record has no size", () => {
    assert.isTrue(FileRecord.isThere(record, 3))
    assert.isTrue(FileRecord.isThere({ ...record, status: "completed", size: 3 }, 3))
  })

  it("a failed file, or one with a different size, does not", () => {
    assert.isFalse(FileRecord.isThere({ ...record, status: "failed", size: 3 }, 3))
    assert.isFalse(FileRecord.isThere({ ...record, status: "completed", size: 4 }, 3))
    assert.isFalse(FileRecord.isThere({ ...record, size: 0 }, 3))
  })
})

describe("the Schema of a record", () => {
  const schemas: ReadonlyArray<Schema.Schema.AnyNoContext> = [FileRecord.FileRecord, ...Object.values(ListRecords)]
  const needed = {
    ...record,
    title: "a",
    type: "b",
    note_id: null,
    tags: [],
    fields: [],
    deleted: false,
    updated_at: ""
  }
  const unnamed = FastCheck.dictionary(FastCheck.string().map((name) => `x_${name}`), FastCheck.jsonValue())
  const parsed = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

  it.prop("decodes any object with an id, and loses nothing of it", [FastCheck.dictionary(
    FastCheck.constantFrom("name", "title", "type", "author", "tags", "fields", "deleted", "extra", "__proto__", "x"),
    FastCheck.jsonValue()
  )], ([more]) => {
    const whole = parsed({ ...more, id: "f1" })
    for (const schema of schemas) {
      const stored = parsed(Schema.encodeUnknownSync(schema)(Schema.decodeUnknownSync(schema)(whole)))
      assert.deepStrictEqual(stored, whole)
    }
  })

  it("types a field that has the expected type, and keeps the others in `extra`", () => {
    const decode = Schema.decodeUnknownSync(ListRecords.Project)
    assert.deepStrictEqual(
      decode({ id: 5, title: "a", deleted: "no", author: { id: "u", name: null }, colour: "red" }),
      {
        title: "a",
        author: { id: "u", extra: { name: null } },
        extra: { id: 5, deleted: "no", colour: "red" }
      }
    )
    assert.deepStrictEqual(decode({ title: "a" }), { title: "a" })
    assert.deepStrictEqual(decode({}), {})
  })

  it("does not decode what is no object", () => {
    for (const schema of schemas) {
      for (const value of [null, undefined, [], "a", 5]) {
        assert.isTrue(Either.isLeft(Schema.decodeUnknownEither(schema)(value)))
      }
    }
  })

  it.prop("keeps unknown fields, at any depth, both ways", [unnamed, unnamed], ([more, ofAuthor]) => {
    const whole = parsed({ ...needed, ...more, author: { id: "u1", name: "Ada", ...ofAuthor } })
    for (const schema of schemas) {
      const stored = parsed(Schema.encodeUnknownSync(schema)(Schema.decodeUnknownSync(schema)(whole)))
      assert.deepStrictEqual(stored, whole)
    }
  })
})
