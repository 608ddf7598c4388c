import { assert, describe, it } from "@effect/vitest"
import { ServiceProfile, UploadPlan } from "@stevedore/core"
import { Arbitraries } from "@stevedore/testing"
import type { Types } from "effect"
import { Either, FastCheck as fc, Option, Schema } from "effect"
import { runs } from "../../testing/test/support/runs.js"
import type * as PlanError from "../src/errors/planError.js"

const { limits } = ServiceProfile.standard

type Limits = ServiceProfile.ServiceProfile["limits"]

const plan = (wishes: Omit<UploadPlan.Wishes, "name">, within: Limits = limits) =>
  UploadPlan.make({ name: "a.bin", ...wishes }, within)

const refusal = (made: Either.Either<unknown, PlanError.PlanError>): PlanError.PlanError =>
  Either.isLeft(made) ? made.left : assert.fail("expected a refusal")

const lengths = (size: number, urls: number, within: Limits = limits): ReadonlyArray<number> =>
  Either.getOrThrow(UploadPlan.ranges(size, urls, within)).map((range) => range.length)

const sizes = fc.oneof(
  fc.integer({ min: 1, max: limits.multipartSize }),
  fc.tuple(fc.integer({ min: 1, max: 1907 }), fc.integer({ min: -2, max: 2 }))
    .map(([parts, more]) => Math.max(1, parts * limits.minimumPartSize + more))
)

// Limits so small that every pair of a size and a number of parts is met.
const smallLimits = fc.record({
  minimumPartSize: fc.integer({ min: 1, max: 8 }),
  most: fc.integer({ min: 8, max: 40 })
})
  .map(({ minimumPartSize, most }): Limits => ({
    ...limits,
    minimumPartSize,
    maximumPartSize: most,
    parts: 60,
    singleSize: 300,
    multipartSize: 600
  }))

const assertCovers = (size: number, urls: number, within: Limits) => {
  const made = Either.getOrThrow(UploadPlan.ranges(size, urls, within))
  assert.lengthOf(made, urls)
  let offset = 0
  for (const range of made) {
    if (!Number.isInteger(range.length) || range.length < 1) assert.fail("a range is empty")
    if (range.offset !== offset) assert.fail("a range is out of order, or there is a gap before it")
    offset += range.length
  }
  assert.strictEqual(offset, size, "exactly once")
  const all = made.map((range) => range.length)
  const butLast = all.slice(0, -1)
  assert.isAtMost(Math.max(...all), Math.max(within.maximumPartSize, within.minimumPartSize))
  const equal = Math.ceil(size / urls)
  if (Math.ceil(size / within.minimumPartSize) >= urls && urls <= UploadPlan.mostParts(size, within)) {
    assert.isTrue(butLast.every((length) => length >= within.minimumPartSize), "no part but the last is too small")
  }
  if (Math.ceil(size / equal) === urls && equal >= within.minimumPartSize) {
    assert.isTrue(butLast.every((length) => length === equal), "equal where that gives exactly this many parts")
  } else if (equal >= within.minimumPartSize) {
    assert.isAtMost(Math.max(...all) - Math.min(...all), 1, "else they differ by one byte at most")
  }
}

describe("UploadPlan", () => {
  it("is what its Schema says, and no more", () => {
    const isSame: Types.Equals<typeof UploadPlan.UploadPlan.Type, UploadPlan.UploadPlan> = true
    assert.isTrue(isSame)
  })

  it.prop("is the same after a way through JSON, where parts that the service chooses are null", {
    plan: Arbitraries.plan()
  }, ({ plan }) => {
    const text = Schema.encodeSync(Schema.parseJson(UploadPlan.UploadPlan))(plan)
    assert.deepStrictEqual(Schema.decodeSync(Schema.parseJson(UploadPlan.UploadPlan))(text), plan)
    assert.deepStrictEqual(
      JSON.parse(text),
      plan._tag === "SinglePlan" ? plan : { ...plan, parts: Option.getOrNull(plan.parts) }
    )
  })

  describe("partsFor", () => {
    const lines = fc.record({
      throughput: fc.double({ min: 1, max: 1e10, noNaN: true }),
      width: fc.integer({ min: 1, max: 32 }),
      urlLifetimeSeconds: fc.integer({ min: 1, max: 100_000 })
    })

    it.prop("is a number that the size can go up in, whatever the line", [sizes, lines], ([size, line]) => {
      assertCovers(size, UploadPlan.partsFor(size, limits, line), limits)
    })

    it.prop(
      "no part takes longer than four seconds of the line or a hundredth of its URL's life, unless it is as small as may be",
      [sizes, lines],
      ([size, line]) => {
        const parts = UploadPlan.partsFor(size, limits, line)
        const seconds = Math.ceil(size / parts) / (line.throughput / line.width)
        const longest = Math.min(4, line.urlLifetimeSeconds / 100)
        assert.isTrue(parts === UploadPlan.mostParts(size, limits) || seconds <= longest * 1.000001 + 1e-6)
      }
    )

    it.prop(
      "there are three for each place on the line, unless they would be too small",
      [sizes, lines],
      ([size, line]) => {
        const parts = UploadPlan.partsFor(size, limits, line)
        assert.isTrue(parts >= 3 * line.width || parts === UploadPlan.mostParts(size, limits))
      }
    )

    it.each([
      ["2 Mbit/s", 250_000, 1, 190],
      ["100 Mbit/s", 12_500_000, 4, 80],
      ["10 Gbit/s", 1_250_000_000, 4, 15]
    ])("1 GB at %s", (_, throughput, width, parts) => {
      const line = { throughput, width, urlLifetimeSeconds: 10_800 }
      assert.strictEqual(UploadPlan.partsFor(1_000_000_000, limits, line), parts)
    })
  })

  describe("partsUnmeasured", () => {
    it.prop(
      "is a number that the size can go up in, with parts of 5 MiB, or larger ones where those would be too many",
      [fc.integer({ min: 1, max: limits.multipartSize })],
      ([size]) => {
        const asked = UploadPlan.partsUnmeasured(size, limits)
        if (Option.isNone(asked)) return assert.isTrue(size < 2 * 5_242_880 || size > 2_147_483_648)
        assertCovers(size, asked.value, limits)
        assert.isTrue(asked.value >= 32 || size / asked.value <= 2 * 5_242_880)
        assert.isAtMost(size / asked.value, 29_360_128)
      }
    )

    it.each([[100_000_000, 19], [250_000_000, 32], [1_000_000_000, 35]])(
      "%d bytes go up in %d parts",
      (size, parts) => {
        assert.deepStrictEqual(UploadPlan.partsUnmeasured(size, limits), Option.some(parts))
      }
    )
  })

  describe("ranges", () => {
    it.prop(
      "cover any source exactly once, in order, none empty, equal where that is possible",
      {
        sizeAndUrls: sizes.chain((size) =>
          fc.tuple(
            fc.constant(size),
            fc.integer({ min: UploadPlan.fewestParts(size, limits), max: UploadPlan.mostParts(size, limits) })
          )
        )
      },
      ({ sizeAndUrls: [size, urls] }) => assertCovers(size, urls, limits),
      { fastCheck: { numRuns: runs(300) } }
    )

    it.prop("the same for every limit: any number of URLs is covered, or refused with what would be right", {
      within: smallLimits,
      size: fc.integer({ min: 1, max: 600 }),
      urls: fc.integer({ min: 0, max: 80 })
    }, ({ size, urls, within }) => {
      const made = UploadPlan.ranges(size, urls, within)
      if (Either.isRight(made)) return assertCovers(size, urls, within)
      const { atLeast, atMost, origin } = made.left
      assert.strictEqual(origin, "given")
      assert.isTrue(urls < atLeast || urls > atMost)
      for (const right of [atLeast, atMost]) {
        if (atLeast <= atMost) assertCovers(size, right, within)
      }
    }, { fastCheck: { numRuns: runs(1200) } })

    it("are equal with a smaller last one where that gives exactly this many parts", () => {
      assert.deepStrictEqual(lengths(20_000_000, 3), [6_666_667, 6_666_667, 6_666_666])
      assert.deepStrictEqual(lengths(10 * 5_242_880 + 1, 10), [...Array(9).fill(5_242_881), 5_242_872])
    })

    it("differ by one byte where equal sizes would give fewer parts", () => {
      const within = { ...limits, minimumPartSize: 1 }
      assert.deepStrictEqual(lengths(10, 6, within), [2, 2, 2, 2, 1, 1])
    })

    it("are the smallest size with a smaller last one where the service cut the file by that size", () => {
      assert.deepStrictEqual(lengths(2 * 5_242_880 + 1, 3), [5_242_880, 5_242_880, 1])
    })

    it("a small file has one part, however small", () => {
      assert.deepStrictEqual(lengths(1, 1), [1])
      assert.deepStrictEqual(lengths(5_242_880, 1), [5_242_880])
    })

    it("the largest file has up to 10000 parts, and no fewer than 2", () => {
      assert.isTrue(Either.isLeft(UploadPlan.ranges(10_000_000_000, 1, limits)))
      assert.deepStrictEqual(lengths(10_000_000_000, 2), [5_000_000_000, 5_000_000_000])
      assert.lengthOf(lengths(10_000_000_000, 1908), 1908)
      assert.lengthOf(lengths(10_000_000_000, 10_000), 10_000)
      assert.isTrue(Either.isLeft(UploadPlan.ranges(10_000_000_000, 10_001, limits)))
    })

    it("are as many as the service gave URLs, also if they are smaller than storage usually takes", () => {
      assert.deepStrictEqual(lengths(20_000_000, 5), Array(5).fill(4_000_000))
      assert.deepStrictEqual(lengths(7, 3), [3, 3, 1])
      assert.deepStrictEqual(lengths(5, 5), [1, 1, 1, 1, 1])
    })

    it.prop("have the size that the service names, if it gives exactly this many parts", {
      size: fc.integer({ min: 1, max: 200 }),
      urls: fc.integer({ min: 1, max: 40 }),
      partSize: fc.integer({ min: 1, max: 210 })
    }, ({ partSize, size, urls }) => {
      const made = UploadPlan.ranges(size, urls, limits, partSize)
      if (Math.ceil(size / partSize) !== urls) {
        return assert.deepStrictEqual(made, UploadPlan.ranges(size, urls, limits))
      }
      const all = Either.getOrThrow(made)
      assert.isTrue(all.slice(0, -1).every(({ length }) => length === partSize))
      assert.strictEqual(all.reduce((sum, { length }) => sum + length, 0), size)
    })

    it("more URLs than bytes is an invalid answer of the service", () => {
      const error = refusal(UploadPlan.ranges(3, 4, { ...limits, minimumPartSize: 1 }))
      assert.include({ ...error }, { _tag: "InvalidPartCount", parts: 4, size: 3, atMost: 3, origin: "given" })
      assert.include(error.message, "given by the service")
    })

    it.each([0, -1])("%d URLs are refused", (urls) => {
      assert.strictEqual(refusal(UploadPlan.ranges(10, urls, limits))._tag, "InvalidPartCount")
    })
  })

  describe("the way up", () => {
    it.prop("is one PUT up to the threshold and several parts above it", {
      size: sizes,
      threshold: fc.option(fc.integer({ min: 0, max: limits.multipartSize }), { nil: undefined })
    }, ({ size, threshold }) => {
      const made = Either.getOrThrow(plan({ size, threshold }))
      const single = size <= (threshold ?? 67_108_864) && size <= limits.singleSize
      assert.strictEqual(made._tag, single ? "SinglePlan" : "MultipartPlan")
      assert.strictEqual(made.size, size)
    })

    it.each([NaN, Infinity, Number.MAX_SAFE_INTEGER])(
      "a threshold of %d never leads to a PUT over 5 GB",
      (threshold) => {
        assert.strictEqual(Either.getOrThrow(plan({ size: limits.singleSize + 1, threshold }))._tag, "MultipartPlan")
      }
    )

    it("the threshold is 64 MiB", () => {
      assert.strictEqual(Either.getOrThrow(plan({ size: 64 * 1024 * 1024 }))._tag, "SinglePlan")
      assert.strictEqual(Either.getOrThrow(plan({ size: 64 * 1024 * 1024 + 1 }))._tag, "MultipartPlan")
    })

    it.prop("can be forced for any size that it takes", { size: sizes }, ({ size }) => {
      assert.strictEqual(Either.getOrThrow(plan({ size, strategy: "multipart" }))._tag, "MultipartPlan")
      const single = plan({ size, strategy: "single" })
      assert.strictEqual(Either.isRight(single), size <= limits.singleSize)
      assert.isTrue(Either.isLeft(single) || single.right._tag === "SinglePlan")
    })

    it.prop("a number of parts that is asked for is several parts, at any size", {
      sizeAndParts: sizes.chain((size) =>
        fc.tuple(
          fc.constant(size),
          fc.integer({ min: UploadPlan.fewestParts(size, limits), max: UploadPlan.mostParts(size, limits) })
        )
      )
    }, ({ sizeAndParts: [size, parts] }) => {
      assert.deepStrictEqual(
        plan({ size, parts }),
        Either.right({ _tag: "MultipartPlan", size, parts: Option.some(parts) })
      )
    })

    it("is left to the service where no number of parts is asked for", () => {
      assert.deepStrictEqual(
        plan({ size: 100_000_000 }),
        Either.right({ _tag: "MultipartPlan", size: 100_000_000, parts: Option.none() })
      )
    })
  })

  describe("refusals", () => {
    it.each(["auto", "single", "multipart"] as const)("a source without bytes, by %s", (strategy) => {
      assert.strictEqual(refusal(plan({ size: 0, strategy }))._tag, "EmptySource")
    })

    it.each([-1, 0.5, NaN, Infinity, -Infinity, 2 ** 53])("a size of %d is no size", (size) => {
      assert.include({ ...refusal(plan({ size })) }, { _tag: "InvalidSource", field: "size" })
    })

    it("one PUT takes 5 GB and not a byte more", () => {
      assert.isTrue(Either.isRight(plan({ size: 5_000_000_000, strategy: "single" })))
      const error = refusal(plan({ size: 5_000_000_001, strategy: "single" }))
      assert.include({ ...error }, {
        _tag: "SizeExceeded",
        size: 5_000_000_001,
        limit: 5_000_000_000,
        path: "single",
        attempts: 0
      })
      assert.include(error.message, "strategy: \"multipart\"")
    })

    it.each(["auto", "single", "multipart"] as const)("nothing takes more than 10 GB, by %s", (strategy) => {
      assert.strictEqual(Either.isRight(plan({ size: 10_000_000_000, strategy })), strategy !== "single")
      const error = refusal(plan({ size: 10_000_000_001, strategy }))
      assert.include({ ...error }, {
        _tag: "SizeExceeded",
        size: 10_000_000_001,
        limit: 10_000_000_000,
        path: "multipart"
      })
      assert.include(error.message, "Split the file")
    })

    it.prop("a number of parts is refused with what would be right, and that is taken", {
      size: sizes,
      parts: fc.oneof(fc.integer(), fc.double(), fc.constantFrom(0, 10_001, NaN, Infinity, -Infinity))
    }, ({ parts, size }) => {
      const made = plan({ size, parts })
      if (Either.isRight(made)) return assertCovers(size, parts, limits)
      const error = made.left._tag === "InvalidPartCount" ? made.left : assert.fail("expected InvalidPartCount")
      assert.isFalse(Number.isInteger(parts) && parts >= error.atLeast && parts <= error.atMost)
      assert.include(error.message, `from ${error.atLeast} to ${error.atMost}`)
      assert.strictEqual(error.origin, "asked")
      for (const right of [error.atLeast, error.atMost]) assert.isTrue(Either.isRight(plan({ size, parts: right })))
      assert.isTrue(Either.isLeft(plan({ size, parts: error.atMost + 1 })))
      assert.isTrue(Either.isLeft(plan({ size, parts: error.atLeast - 1 })))
    }, { fastCheck: { numRuns: runs(500) } })

    it("what would be right is told by the limits of the profile, not by those of another", () => {
      const small = { ...limits, minimumPartSize: 10 }
      const { message } = refusal(plan({ size: 60, parts: 7 }, small))
      assert.include(message, "from 1 to 6")
      assert.notInclude(message, "MiB")
    })

    it("parts under 5 MiB: 5 000 000 is not 5 MiB", () => {
      assert.isTrue(Either.isLeft(plan({ size: 50_000_000, parts: 10 })))
      assert.isTrue(Either.isRight(plan({ size: 52_428_800, parts: 10 })))
    })

    it("one PUT has one part", () => {
      assert.isTrue(Either.isRight(plan({ size: 100_000_000, strategy: "single", parts: 1 })))
      assert.include({ ...refusal(plan({ size: 100_000_000, strategy: "single", parts: 2 })) }, {
        _tag: "InvalidPartCount",
        atLeast: 1,
        atMost: 1
      })
    })

    it.prop("whatever is wished, there is a plan or one typed refusal, never a throw", {
      size: fc.oneof(sizes, fc.double(), fc.integer()),
      strategy: fc.constantFrom("auto" as const, "single" as const, "multipart" as const, undefined),
      threshold: fc.option(fc.double(), { nil: undefined }),
      parts: fc.option(fc.double(), { nil: undefined })
    }, (wishes) => {
      const made = plan(wishes)
      assert.isTrue(Either.isRight(made) || made.left.recovery === "none")
    })
  })
})
