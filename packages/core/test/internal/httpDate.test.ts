import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { httpDate } from "../../src/base/httpDate.js"

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
