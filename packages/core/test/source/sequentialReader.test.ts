import { assert, describe, it } from "@effect/vitest"
import { SourceError } from "@stevedore/core"
import {
  Chunk,
  Deferred,
  Effect,
  Either,
  Exit,
  FastCheck as fc,
  Fiber,
  Ref,
  Schedule,
  Scope,
  Stream,
  TestClock
} from "effect"
import { runs } from "../../../testing/test/support/runs.js"
import * as SequentialReader from "../../src/source/sequentialReader.js"
import type { OpenSource, SourceSection } from "../../src/UploadSource.js"

const bytes = (size: number): Uint8Array => Uint8Array.from({ length: size }, (_, index) => (index * 31 + 7) % 256)

/** A source of `size` bytes, in chunks of the lengths given, again and again from the first. */
const chunked = (content: Uint8Array, lengths: ReadonlyArray<number>): Stream.Stream<Uint8Array> => {
  const chunks: Array<Uint8Array> = []
  for (let offset = 0, index = 0; offset < content.byteLength; index++) {
    const length = lengths[index % lengths.length] ?? 1
    chunks.push(content.slice(offset, offset + length))
    offset += length
  }
  return Stream.fromIterable(chunks)
}

const open = (
  stream: Stream.Stream<Uint8Array, SourceError.SourceError>,
  size: number,
  repeatable = true
): Effect.Effect<OpenSource, SourceError.SourceError, Scope.Scope> =>
  SequentialReader.open({ name: "a.bin", size, stream, repeatable })

const contentOf = (section: SourceSection): Effect.Effect<ReadonlyArray<number>, SourceError.SourceError> =>
  Effect.scoped(
    Effect.flatMap(section.body(() => {}), (body) => {
      switch (body._tag) {
        case "BytesBody":
          return Effect.succeed([...body.bytes])
        case "StreamBody":
          return Effect.map(Stream.runCollect(body.stream), (chunks) => [...chunks].flatMap((chunk) => [...chunk]))
        case "NativeBody":
        case "BlobBody":
          return Effect.die("a stream has no native body")
      }
    })
  )

const rangesOf = (size: number, lengths: ReadonlyArray<number>) => {
  const ranges: Array<{ readonly offset: number; readonly length: number }> = []
  for (let offset = 0, index = 0; offset < size; index++) {
    const length = Math.min(lengths[index % lengths.length] ?? 1, size - offset)
    ranges.push({ offset, length })
    offset += length
  }
  return ranges
}

const lengthsOf = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 })

const changed = <A, E>(result: Either.Either<A, E>): SourceError.SourceChanged => {
  const error: unknown = Either.isLeft(result) ? result.left : undefined
  return error instanceof SourceError.SourceChanged ? error : assert.fail("expected SourceChanged")
}

const readOnce = <A, E>(result: Either.Either<A, E>): void => {
  const error: unknown = Either.isLeft(result) ? result.left : undefined
  assert.instanceOf(error, SourceError.SourceUnreadable)
  assert.strictEqual(error.reason, "ReadOnce")
}

const mebibyte = 1_048_576

const overHeld = 65 * mebibyte

/** 65 MiB without holding them. */
const large = Stream.range(1, 65).pipe(Stream.map(() => new Uint8Array(mebibyte)))

describe("sequentialReader", () => {
  it.effect.prop("any chunks of a stream and any parts give the same bytes, whatever the order of the claims", {
    size: fc.integer({ min: 1, max: 300 }),
    chunks: fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 8 })
      .filter((lengths) => lengths.some((length) => length > 0)),
    parts: lengthsOf,
    seed: fc.integer()
  }, ({ chunks, parts, seed, size }) =>
    Effect.scoped(Effect.gen(function*() {
      const content = bytes(size)
      const source = yield* open(chunked(content, chunks), size)
      const ranges = rangesOf(size, parts)
      const shuffled = [...ranges].sort((one, other) => (one.offset * seed) % 17 - (other.offset * seed) % 17)
      const read = yield* Effect.forEach(
        shuffled,
        (range) =>
          Effect.map(
            Effect.scoped(Effect.flatMap(source.section(range), contentOf)),
            (content) => ({ range, content })
          ),
        { concurrency: "unbounded" }
      )
      for (const { content: section, range } of read) {
        assert.deepStrictEqual(section, [...content.subarray(range.offset, range.offset + range.length)])
      }
    })), { fastCheck: { numRuns: runs(50) } })

  it.effect("a claim out of turn waits for the ones before it", () =>
    Effect.scoped(Effect.gen(function*() {
      const content = bytes(30)
      const source = yield* open(chunked(content, [7]), 30)
      const claim = (offset: number) => Effect.flatMap(source.section({ offset, length: 10 }), contentOf)
      const last = yield* Effect.fork(claim(20))
      const second = yield* Effect.fork(claim(10))
      yield* TestClock.adjust("1 hour")
      assert.isTrue((yield* Fiber.poll(last))._tag === "None")
      assert.isTrue((yield* Fiber.poll(second))._tag === "None")
      assert.deepStrictEqual(yield* claim(0), [...content.subarray(0, 10)])
      assert.deepStrictEqual(yield* Fiber.join(second), [...content.subarray(10, 20)])
      assert.deepStrictEqual(yield* Fiber.join(last), [...content.subarray(20)])
    })))

  it.effect.each<readonly [string, Stream.Stream<Uint8Array<ArrayBuffer>>]>([
    ["nothing", Stream.never],
    ["only empty chunks", Stream.schedule(Stream.repeatValue(new Uint8Array(0)), Schedule.spaced("1 second"))]
  ])(
    "a stream that gives %s for as long as a transfer may stand still fails, and not before",
    ([, rest]) =>
      Effect.scoped(Effect.gen(function*() {
        const slow = Stream.succeed(bytes(10)).pipe(Stream.concat(Stream.fromEffect(
          Effect.as(Effect.sleep("59 seconds"), bytes(10))
        )))
        const source = yield* open(Stream.concat(slow, rest), 30)
        const claim = (offset: number) => Effect.fork(Effect.either(source.section({ offset, length: 10 })))
        const claims = yield* Effect.forEach([0, 10, 20], claim)
        yield* TestClock.adjust("118 seconds")
        assert.strictEqual((yield* Fiber.poll(claims[2] ?? assert.fail()))._tag, "None")
        yield* TestClock.adjust("1 second")
        const [, second, third] = yield* Effect.forEach(claims, Fiber.join)
        assert.isTrue(second !== undefined && Either.isRight(second))
        const error: unknown = third !== undefined && Either.isLeft(third) ? third.left : undefined
        assert.instanceOf(error, SourceError.SourceUnreadable)
        assert.strictEqual(error.reason, "Stalled")
      }))
  )

  it.effect("reads no further than the claims ask", () =>
    Effect.scoped(Effect.gen(function*() {
      const pulled = yield* Ref.make(0)
      const stream = Stream.range(1, 10).pipe(
        Stream.rechunk(1),
        Stream.mapEffect(() => Effect.as(Ref.update(pulled, (count) => count + 1), new Uint8Array(10)))
      )
      const source = yield* open(stream, 100)
      assert.strictEqual(yield* Ref.get(pulled), 0)
      yield* source.section({ offset: 0, length: 25 })
      assert.strictEqual(yield* Ref.get(pulled), 3)
    })))

  it.effect.prop("more bytes than declared are SourceChanged, at the last part at the latest", {
    size: fc.integer({ min: 1, max: 200 }),
    more: fc.integer({ min: 1, max: 60 }),
    chunks: lengthsOf,
    parts: lengthsOf
  }, ({ chunks, more, parts, size }) =>
    Effect.scoped(Effect.gen(function*() {
      const source = yield* open(chunked(bytes(size + more), chunks), size)
      const result = yield* Effect.either(Effect.forEach(rangesOf(size, parts), source.section))
      assert.strictEqual(changed(result).what, "tooLong")
    })))

  it.effect.prop("fewer bytes than declared are SourceChanged", {
    size: fc.integer({ min: 2, max: 200 }),
    fewer: fc.integer({ min: 1, max: 200 }),
    chunks: lengthsOf,
    parts: lengthsOf
  }, ({ chunks, fewer, parts, size }) =>
    Effect.scoped(Effect.gen(function*() {
      const given = Math.max(0, size - fewer)
      const source = yield* open(chunked(bytes(given), chunks), size)
      const result = yield* Effect.either(Effect.forEach(rangesOf(size, parts), source.section))
      assert.include({ ...changed(result) }, { what: "tooShort", expected: `${size}`, actual: `${given}` })
    })))

  it.effect("a failure is every claim's: those that wait and those that come after", () =>
    Effect.scoped(Effect.gen(function*() {
      const failure = new SourceError.SourceUnreadable({ fileName: "a.bin", reason: "Failed", code: "EIO" })
      const source = yield* open(Stream.concat(Stream.make(bytes(5)), Stream.fail(failure)), 40)
      const waiting = yield* Effect.fork(Effect.either(source.section({ offset: 20, length: 10 })))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Effect.either(source.section({ offset: 0, length: 10 })), Either.left(failure))
      assert.deepStrictEqual(yield* Fiber.join(waiting), Either.left(failure))
      assert.deepStrictEqual(yield* Effect.either(source.section({ offset: 10, length: 10 })), Either.left(failure))
    })))

  it.effect("a claim that is interrupted leaves nobody waiting", () =>
    Effect.scoped(Effect.gen(function*() {
      const source = yield* open(Stream.concat(Stream.make(bytes(5)), Stream.never), 40)
      const reading = yield* Effect.fork(source.section({ offset: 0, length: 10 }))
      const waiting = yield* Effect.fork(Effect.either(source.section({ offset: 10, length: 10 })))
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(reading)
      readOnce(yield* Fiber.join(waiting))
      readOnce(yield* Effect.either(source.section({ offset: 20, length: 10 })))
    })))

  it.effect("a range is claimed once", () =>
    Effect.scoped(Effect.gen(function*() {
      const source = yield* open(chunked(bytes(30), [10]), 30)
      const waiting = yield* Effect.fork(source.section({ offset: 10, length: 10 }))
      yield* TestClock.adjust("1 second")
      readOnce(yield* Effect.either(source.section({ offset: 10, length: 10 })))
      yield* source.section({ offset: 0, length: 10 })
      readOnce(yield* Effect.either(source.section({ offset: 0, length: 10 })))
      yield* Fiber.join(waiting)
      yield* source.section({ offset: 20, length: 10 })
    })))

  it.effect("the stream is open until the source's scope closes, whatever becomes of its sections", () =>
    Effect.gen(function*() {
      const closed = yield* Ref.make(false)
      const content = bytes(20)
      const stream = Stream.acquireRelease(Effect.succeed(content), () => Ref.set(closed, true)).pipe(
        Stream.flatMap((all) =>
          Stream.mapEffect(chunked(all, [5]), (chunk) =>
            Effect.flatMap(Ref.get(closed), (isClosed) =>
              isClosed
                ? Effect.fail(new SourceError.SourceUnreadable({ fileName: "a.bin", reason: "Failed" }))
                : Effect.succeed(chunk)))
        )
      )
      const scope = yield* Scope.make()
      const source = yield* Scope.extend(open(stream, 20), scope)
      for (const offset of [0, 5, 10]) {
        const section = yield* Effect.scoped(Effect.flatMap(source.section({ offset, length: 5 }), contentOf))
        assert.deepStrictEqual(section, [...content.subarray(offset, offset + 5)])
        assert.isFalse(yield* Ref.get(closed))
      }
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(yield* Ref.get(closed))
    }))

  it.effect("a part that is held can be sent again, also from a stream that can be run only once", () =>
    Effect.scoped(Effect.gen(function*() {
      const content = bytes(20)
      const source = yield* open(chunked(content, [3]), 20, false)
      const section = yield* source.section({ offset: 0, length: 20 })
      const first = yield* contentOf(section)
      assert.deepStrictEqual(yield* contentOf(section), first)
      assert.deepStrictEqual(first, [...content])
    })))

  it.effect("every attempt shows its bytes to its observer", () =>
    Effect.scoped(Effect.gen(function*() {
      const source = yield* open(chunked(bytes(20), [3]), 20)
      const section = yield* source.section({ offset: 0, length: 20 })
      let seen = 0
      const count = (chunk: Uint8Array) => {
        seen += chunk.byteLength
      }
      yield* Effect.scoped(section.body(count))
      assert.strictEqual(seen, 20)
      yield* Effect.scoped(section.body(count))
      assert.strictEqual(seen, 40)
    })))

  describe("a whole file over 64 MiB", () => {
    const streamOf = (section: SourceSection, observe: (chunk: Uint8Array) => void = () => {}) =>
      Effect.map(
        section.body(observe),
        (body) => body._tag === "StreamBody" ? body.stream : assert.fail("expected a stream")
      )

    const whole = { offset: 0, length: overHeld }

    it.effect("passes through without being held", () =>
      Effect.scoped(Effect.gen(function*() {
        const inFlight = yield* Deferred.make<void>()
        const source = yield* open(Stream.tap(large, () => Deferred.succeed(inFlight, undefined)), overHeld)
        const section = yield* source.section(whole)
        assert.isFalse(yield* Deferred.isDone(inFlight), "nothing is read before the body is sent")
        let seen = 0
        const stream = yield* streamOf(section, (chunk) => {
          seen += chunk.byteLength
        })
        const sent = yield* Stream.runFold(stream, 0, (sum, chunk) => sum + chunk.byteLength)
        assert.strictEqual(sent, overHeld)
        assert.strictEqual(seen, overHeld)
      })))

    it.effect("is read anew for each attempt where that is possible", () =>
      Effect.scoped(Effect.gen(function*() {
        const source = yield* open(large, overHeld)
        const section = yield* source.section(whole)
        for (const _ of [1, 2]) {
          const stream = yield* streamOf(section)
          assert.strictEqual(yield* Stream.runCount(stream), 65)
        }
      })))

    it.effect("that can be read only once fails on the second attempt, and is never sent as an empty one", () =>
      Effect.scoped(Effect.gen(function*() {
        const source = yield* open(large, overHeld, false)
        const section = yield* source.section(whole)
        yield* Effect.asVoid(section.body(() => {}))
        readOnce(yield* Effect.either(section.body(() => {})))
      })))

    it.effect.each([-1, 1])(
      "of another length by %d is SourceChanged",
      (difference) =>
        Effect.scoped(Effect.gen(function*() {
          const source = yield* open(large, overHeld - difference)
          const section = yield* source.section({ offset: 0, length: overHeld - difference })
          const stream = yield* streamOf(section)
          assert.strictEqual(
            changed(yield* Effect.either(Stream.runDrain(stream))).what,
            difference < 0 ? "tooShort" : "tooLong"
          )
        }))
    )
  })

  it.effect("cannot be read for its own sake", () =>
    Effect.scoped(Effect.gen(function*() {
      const source = yield* open(chunked(bytes(20), [3]), 20)
      readOnce(yield* Effect.either(source.readThrough({ offset: 0, length: 20 }, () => {})))
    })))

  it.effect("a chunk of nothing is no end", () =>
    Effect.scoped(Effect.gen(function*() {
      const stream = Stream.fromChunk(Chunk.make(new Uint8Array(0), bytes(5), new Uint8Array(0), new Uint8Array(0)))
      const source = yield* open(stream, 5)
      assert.deepStrictEqual(yield* Effect.flatMap(source.section({ offset: 0, length: 5 }), contentOf), [...bytes(5)])
    })))
})
