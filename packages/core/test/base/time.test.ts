/** Dates of HTTP, and what Retry-After says. */
import { assert, describe, it } from "@effect/vitest"
import { StorageError } from "@stevedore/core"
import { Duration, FastCheck, FastCheck as fc, Option } from "effect"
import * as RetryAfter from "../../src/base/time.js"
import { httpDate } from "../../src/base/time.js"

const now = Date.UTC(2030, 0, 1)

const millis = (headers: Record<string, string>, at = now): number | undefined =>
  Option.getOrUndefined(Option.map(Option.fromNullable(RetryAfter.retryAfterIn(headers, at)), Duration.toMillis))

describe("RetryAfter", () => {
  it.prop("whole seconds are used as they are", { seconds: fc.nat() }, ({ seconds }) => {
    assert.strictEqual(millis({ "retry-after": ` ${seconds} ` }), seconds * 1000)
  })

  it.prop("a date is relative to the server's own clock, however wrong ours is", {
    seconds: fc.nat(86_400),
    error: fc.integer({ min: -1e9, max: 1e9 })
  }, ({ error, seconds }) => {
    const headers = {
      date: new Date(now).toUTCString(),
      "retry-after": new Date(now + seconds * 1000).toUTCString()
    }
    assert.strictEqual(millis(headers, now + error), seconds * 1000)
  })

  it("a date is relative to our clock if the response has none", () => {
    assert.strictEqual(millis({ "retry-after": new Date(now + 5000).toUTCString() }), 5000)
  })

  it("a date is GMT in each of its forms, whatever the computer's time zone", () => {
    const zone = process.env["TZ"]
    try {
      process.env["TZ"] = "America/New_York"
      assert.notStrictEqual(new Date(now).getTimezoneOffset(), 0)
      const forms = ["Tue, 01 Jan 2030 00:00:07 GMT", "Tuesday, 01-Jan-30 00:00:07 GMT", "Tue Jan  1 00:00:07 2030"]
      for (const form of forms) {
        assert.strictEqual(millis({ "retry-after": form }), 7000)
        assert.strictEqual(millis({ "retry-after": "Tue, 01 Jan 2030 00:00:09 GMT", date: form }), 2000)
      }
    } finally {
      if (zone === undefined) delete process.env["TZ"]
      else process.env["TZ"] = zone
    }
  })

  it("a date in the past is ignored", () => {
    assert.isUndefined(millis({ "retry-after": new Date(now - 1000).toUTCString() }))
  })

  it.each([
    "",
    " ",
    "soon",
    "-1",
    "1e3",
    "0x10",
    "1,5",
    "NaN",
    "Infinity",
    "9".repeat(400),
    "2030-01-01",
    "Xyz, 99 Foo"
  ])(
    "%j is ignored",
    (header) => {
      assert.isUndefined(millis({ "retry-after": header }))
    }
  )

  it.each([1, 20, 299, 300, 305, 306, 400])(
    "the message can tell a wait of %d digits, or none is asked for",
    (digits) => {
      const retryAfter = RetryAfter.retryAfterIn({ "retry-after": "9".repeat(digits) }, now)
      const error = new StorageError.StorageUnavailable({ status: 503, retryAfter, attempts: 1 })
      assert.strictEqual(error.message.includes("asks to wait"), retryAfter !== undefined)
    }
  )

  it("no header means no wait", () => {
    assert.isUndefined(millis({}))
  })

  it.prop("whatever the headers say, a wait is finite and not negative", {
    header: fc.oneof(fc.string(), fc.double().map(String), fc.bigInt().map(String), fc.date().map(String)),
    date: fc.oneof(fc.string(), fc.date().map(String))
  }, ({ date, header }) => {
    const wait = millis({ "retry-after": header, date })
    assert.isTrue(wait === undefined || (Number.isFinite(wait) && wait >= 0))
  })
})

const lastSecond = Date.UTC(9999, 11, 31, 23, 59, 59)

const seconds = FastCheck.integer({ min: 0, max: lastSecond / 1000 })

const asctime = (date: Date): string => {
  const [weekday, day, month, year, time] = date.toUTCString().replace(",", "").split(" ")
  return `${weekday} ${month} ${day?.replace(/^0/, " ")} ${time} ${year}`
}

describe("httpDate", () => {
  it.prop("reads what servers write, in both formats", { seconds }, ({ seconds }) => {
    const date = new Date(seconds * 1000)
    assert.strictEqual(httpDate(date.toUTCString()), seconds * 1000)
    assert.strictEqual(httpDate(asctime(date)), seconds * 1000)
  })

  it.each(["", "soon", "Tue, 13 Sep 275760 00:00:00 GMT", "+010000-01-01T00:00:00Z"])(
    "knows no time of %j: an offset from one that far away would lead to no time at all",
    (text) => assert.isUndefined(httpDate(text))
  )
})
