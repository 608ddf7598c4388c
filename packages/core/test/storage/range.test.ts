import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc, Option } from "effect"
import * as RangedContent from "../../src/storage/range.js"

const none = Option.none()

const untold = { etag: none, checksums: {} }

describe("headers", () => {
  it("request exactly what is wanted", () => {
    assert.deepStrictEqual(RangedContent.headers({}), {})
    assert.deepStrictEqual(RangedContent.headers({ range: { start: 5 } }), { range: "bytes=5-" })
    assert.deepStrictEqual(RangedContent.headers({ range: { start: 0, end: 9 }, ifMatch: "\"a\"" }), {
      range: "bytes=0-9",
      "if-match": "\"a\""
    })
  })
})

describe("held", () => {
  it("is everything for a 200, whatever was requested", () => {
    assert.deepStrictEqual(
      RangedContent.held({ status: 200, headers: { "content-length": "10" } }, { range: { start: 3, end: 4 } }),
      Option.some({ partial: false, start: 0, length: Option.some(10), totalLength: Option.some(10), ...untold })
    )
    assert.deepStrictEqual(
      RangedContent.held({ status: 200, headers: { etag: "\"e\"" } }, {}),
      Option.some({ partial: false, start: 0, length: none, totalLength: none, ...untold, etag: Option.some("\"e\"") })
    )
  })

  it("is the range of a 206 if it starts as requested, for any range and size", () => {
    fc.assert(fc.property(fc.nat(1e9), fc.integer({ min: 1, max: 1e9 }), fc.nat(1e9), (start, length, more) => {
      const total = start + length + more
      const answer = {
        status: 206,
        headers: { "content-range": `bytes ${start}-${start + length - 1}/${total}`, "content-length": String(length) }
      }
      const held = {
        partial: true,
        start,
        length: Option.some(length),
        totalLength: Option.some(total),
        ...untold
      }
      for (const end of [start + length - 1, start + length + 5, undefined]) {
        assert.deepStrictEqual(RangedContent.held(answer, { range: { start, end } }), Option.some(held))
      }
      assert.deepStrictEqual(RangedContent.held(answer, { range: { start: start + 1 } }), none)
      assert.deepStrictEqual(RangedContent.held(answer, {}), none)
    }))
  })

  it("is nothing for another status, and for a 206 that does not say what it contains", () => {
    const range = { start: 0, end: 9 }
    for (
      const [status, contentRange] of [
        [204, undefined],
        [304, undefined],
        [304, "bytes 0-9/20"],
        [416, "bytes 0-9/20"],
        [206, undefined],
        [206, "bytes */10"],
        [206, "bytes 0-10/20"],
        [206, "bytes 0-9/9"],
        [206, "bytes 0-0/0"],
        [206, "items 0-9/20"]
      ] as const
    ) {
      assert.deepStrictEqual(
        RangedContent.held({ status, headers: { "content-range": contentRange } }, { range }),
        none
      )
    }
    const backwards = { status: 206, headers: { "content-range": "bytes 9-3/20" } }
    assert.deepStrictEqual(RangedContent.held(backwards, { range: { start: 9 } }), none)
  })

  it("reads a range of content of unknown size", () => {
    const held = RangedContent.held({ status: 206, headers: { "content-range": "bytes 2-3/*" } }, {
      range: { start: 2 }
    })
    assert.deepStrictEqual(
      Option.map(held, ({ length, totalLength }) => [length, totalLength]),
      Option.some([Option.some(2), none])
    )
  })
})

describe("held of encoded content", () => {
  const headers = {
    "content-encoding": "gzip",
    "content-length": "10",
    "x-amz-checksum-crc32": "y/Q5Jg==",
    etag: "\"e\""
  }
  const part = (range: string) => ({ status: 206, headers: { ...headers, "content-range": range } })

  it("reports no length of bytes that may be decoded, and proves nothing", () => {
    const unknown = { start: 0, length: none, totalLength: none, checksums: {}, etag: Option.some("W/\"e\"") }
    assert.deepStrictEqual(
      RangedContent.held({ status: 200, headers }, {}),
      Option.some({ partial: false, ...unknown })
    )
    assert.deepStrictEqual(
      RangedContent.held(part("bytes 0-9/10"), { range: { start: 0, end: 99 } }),
      Option.some({ partial: true, ...unknown })
    )
  })

  it("has a weak etag as it was sent", () => {
    const weak = RangedContent.held({ status: 200, headers: { ...headers, etag: "W/\"e\"" } }, {})
    assert.deepStrictEqual(Option.flatMap(weak, ({ etag }) => etag), Option.some("W/\"e\""))
  })

  it("is not a part at an offset of the encoded bytes, because the offset of the decoded ones is unknown", () => {
    assert.deepStrictEqual(RangedContent.held(part("bytes 3-9/10"), { range: { start: 3 } }), none)
  })

  it("is as reported if nothing is decoded, or nothing was encoded", () => {
    const asked = { range: { start: 0, end: 99 } }
    const { "content-encoding": _, ...plain } = headers
    for (
      const one of [{ status: 200, headers: plain }, {
        ...part("bytes 0-9/10"),
        headers: { ...plain, "content-range": "bytes 0-9/10" }
      }]
    ) {
      const expected = RangedContent.held(one, asked)
      assert.deepStrictEqual(Option.flatMap(expected, ({ length }) => length), Option.some(10))
      for (const encoding of ["identity", "Identity", ""]) {
        const identity = { ...one, headers: { ...one.headers, "content-encoding": encoding } }
        assert.deepStrictEqual(RangedContent.held(identity, asked), expected)
      }
      const gzip = { ...one, headers: { ...one.headers, "content-encoding": "gzip" } }
      const coding = "the content coding gzip, which was not asked for"
      assert.deepStrictEqual(
        RangedContent.held(gzip, asked, { asSent: true }),
        Option.map(expected, (held) => ({ ...held, coding }))
      )
    }
  })
})

describe("held of a Content-Encoding that is all blanks but for its end", () => {
  it("is read in no noticeable time", () => {
    const startedAt = performance.now()
    const encoded = { status: 200, headers: { "content-encoding": `${"\u00a0".repeat(60_000)}x` } }
    for (let count = 0; count < 5; count++) assert.isTrue(Option.isSome(RangedContent.held(encoded, {})))
    assert.isBelow(performance.now() - startedAt, 2000)
  })
})

describe("isStrong", () => {
  it("accepts only etags that promise equal bytes", () => {
    assert.deepStrictEqual(["\"a\"", "W/\"a\"", "", "unquoted"].map(RangedContent.isStrong), [true, false, false, true])
  })
})

describe("checksums", () => {
  const held = (headers: Record<string, string>, contentRange?: string, start = 0) =>
    Option.map(
      RangedContent.held(
        {
          status: contentRange === undefined ? 200 : 206,
          headers: { ...headers, ...(contentRange === undefined ? {} : { "content-range": contentRange }) }
        },
        { range: { start, end: 9 } }
      ),
      ({ checksums }) => checksums
    )

  it("are those of the whole, by algorithm", () => {
    const headers = {
      "x-amz-checksum-crc32": "y/Q5Jg==",
      "x-amz-checksum-crc64nvme": "rosUhgp5mIg=",
      "x-amz-checksum-type": "FULL_OBJECT",
      "x-amz-checksum-algorithm": "CRC32"
    }
    const told = Option.some({ crc32: "y/Q5Jg==", crc64nvme: "rosUhgp5mIg=" })
    assert.deepStrictEqual(held(headers), told)
    assert.deepStrictEqual(held(headers, "bytes 0-9/10"), told)
  })

  it("are absent if they may be of a part, or are composed of the parts' checksums", () => {
    const crc32 = { "x-amz-checksum-crc32": "y/Q5Jg==" }
    assert.deepStrictEqual(held(crc32, "bytes 0-9/11"), Option.some({}))
    assert.deepStrictEqual(held(crc32, "bytes 0-9/*"), Option.some({}))
    assert.deepStrictEqual(held(crc32, "bytes 1-9/10", 1), Option.some({}))
    assert.deepStrictEqual(held({ "x-amz-checksum-crc32": "y/Q5Jg==-2" }), Option.some({}))
    assert.deepStrictEqual(held({ ...crc32, "x-amz-checksum-type": "composite" }), Option.some({}))
  })
})
