import { assert, describe, it } from "@effect/vitest"
import { FileRecord } from "@stevedore/core"

const record: FileRecord.FileRecord = { id: "f1", name: "a.bin", status: "pending", created_at: "2030-01-02T03:04:05Z" }

describe("FileRecord.isThere", () => {
  it("a file is there while it is processed, and when its record tells no size", () => {
    assert.isTrue(FileRecord.isThere(record, 3))
    assert.isTrue(FileRecord.isThere({ ...record, size: null }, 3))
    assert.isTrue(FileRecord.isThere({ ...record, status: "completed", size: 3 }, 3))
  })

  it("one that failed, or has another size, is not", () => {
    assert.isFalse(FileRecord.isThere({ ...record, status: "failed", size: 3 }, 3))
    assert.isFalse(FileRecord.isThere({ ...record, status: "completed", size: 4 }, 3))
    assert.isFalse(FileRecord.isThere({ ...record, size: 0 }, 3))
  })
})
