import { assert, describe, it } from "@effect/vitest"
import type { UploadQueue } from "@stevedore/browser"
import { ServiceError, UploadError } from "@stevedore/core"
import * as Words from "../../browser/page/words.js"

const item = (changes: Partial<UploadQueue.Item>): UploadQueue.Item => ({
  id: "1",
  name: "a.txt",
  size: 1_000_000,
  mediaType: "text/plain",
  state: "uploading",
  sent: 420_000,
  confirmed: 0,
  speed: 3000,
  secondsLeft: 170,
  stalled: false,
  kept: false,
  error: undefined,
  result: undefined,
  ...changes
})

const still = { speed: undefined, secondsLeft: undefined }

describe("the words of the page", () => {
  it("a file under way is told by its bytes, its speed and the time left, and its bar by percent and time", () => {
    const moving = item({})
    assert.strictEqual(Words.state(moving), "420 kB of 1.0 MB · 3.0 kB/s · 3 minutes left")
    assert.strictEqual(Words.progress(moving), "42 %, 3 minutes left")
    const unmeasured = item(still)
    assert.strictEqual(Words.state(unmeasured), "420 kB of 1.0 MB")
    assert.strictEqual(Words.progress(unmeasured), "42 %")
  })

  it("a file that does not move waits for the connection, to the eye and to the ear", () => {
    const stalled = item({ ...still, stalled: true })
    assert.strictEqual(Words.state(stalled), "420 kB of 1.0 MB · waiting for the connection")
    assert.strictEqual(Words.progress(stalled), "42 %, waiting for the connection")
  })

  it("a file is finishing from its last byte on, whoever's answer is awaited", () => {
    const handedOver = item({ sent: 1_000_000, speed: undefined, secondsLeft: 0 })
    for (const finishing of [handedOver, item({ ...still, sent: 1_000_000, state: "finishing" })]) {
      assert.strictEqual(Words.state(finishing), "1.0 MB · finishing")
      assert.strictEqual(Words.progress(finishing), "100 %, finishing")
    }
  })

  it("a very long name keeps its start and its end, and no character of a name hides another", () => {
    assert.strictEqual(Words.name("notes.txt"), "notes.txt")
    const long = Words.name(`Interviews/${"with customers/".repeat(20)}take 17.mp4`)
    assert.match(long, /^Interviews\/with .*….*\/take 17\.mp4$/)
    assert.strictEqual(Array.from(long).length, 100)
    assert.strictEqual(Words.name("🎉".repeat(100)), "🎉".repeat(100))
    assert.deepStrictEqual([" ", "\u3000\n"].map(Words.name), ["(no name)", "(no name)"])
    assert.strictEqual(Words.name("notes_\u202efdp.exe\n"), "notes_\ufffdfdp.exe\ufffd")
  })

  it("a line breaks between a number's part and the next, not within it", () => {
    assert.deepStrictEqual(
      Words.unbroken("420 kB of 1.0 MB · 3.0 kB/s · waiting for the connection").split(" "),
      ["420\u00a0kB\u00a0of\u00a01.0\u00a0MB\u00a0·", "3.0\u00a0kB/s\u00a0·", "waiting", "for", "the", "connection"]
    )
  })

  it("the time left has two numbers at most, however long it is", () => {
    assert.deepStrictEqual(
      [3, 31, 60, 3599, 3601, 7200, 86_000].map(Words.timeLeft),
      [
        "seconds left",
        "35 seconds left",
        "1 minute left",
        "1 h left",
        "1 h 1 min left",
        "2 h left",
        "23 h 54 min left"
      ]
    )
  })

  it("one byte is not bytes", () => {
    assert.deepStrictEqual([0, 1, 2].map(Words.bytes), ["0 bytes", "1 byte", "2 bytes"])
  })

  it("start, quarters and end are announced, and nothing between them", () => {
    const totals: UploadQueue.Totals = {
      ...still,
      state: "uploading",
      files: 2,
      completed: 0,
      failed: 0,
      size: 100,
      sent: 0,
      confirmed: 0
    }
    const said = Array.from(
      { length: 101 },
      (_, percent) => Words.announcement({ ...totals, sent: percent }, Math.floor(percent / 25))
    )
    assert.deepStrictEqual([...new Set(said)], [
      "Uploading 2 files.",
      "25 percent uploaded.",
      "50 percent uploaded.",
      "75 percent uploaded.",
      "100 percent uploaded."
    ])
    assert.strictEqual(Words.announcement({ ...totals, state: "completed", completed: 2 }, 4), "2 files uploaded.")
    const failed = { ...totals, state: "failed", completed: 1, failed: 1 } as const
    assert.strictEqual(Words.announcement(failed, 4), "1 of 2 files uploaded, 1 failed.")
    assert.deepStrictEqual(
      [{ ...totals, sent: 42 }, failed, { ...totals, state: "idle" } as const].map(Words.title),
      ["42 % – Stevedore", "Failed – Stevedore", "Stevedore"]
    )
  })

  it("no error is told with an id that nobody has seen", () => {
    const error = { tag: "UnfinishedUploadNotFound", message: "There is no unfinished upload \"00e77c6832667339\"" }
    assert.notInclude(Words.failure(item({ state: "failed", error })), "00e77c")
    const unknown = new UploadError.CompletionUnknown({ fileId: "00e77c", because: "InvalidResponse", attempts: 2 })
    const { _tag: tag, message } = unknown
    assert.notInclude(Words.failure(item({ state: "failed", error: { tag, message } })), "00e77c")
  })

  it("nobody whose connection fails is told to be offline, which an upload waits for the end of", () => {
    const error = { tag: "ConnectionFailed", message: "The connection to the storage failed" }
    const told = Words.failure(item({ state: "failed", error }))
    assert.notInclude(told, "online")
    assert.include(told, "ad blocker")
  })

  it("an error that only a developer can understand is told in other words", () => {
    const answer = { operation: "initiateUpload", issues: [], attempts: 2 }
    for (
      const { _tag: tag, message } of [
        new ServiceError.InvalidResponse({ ...answer, status: 200, path: "", problem: ServiceError.notJson }),
        new ServiceError.RateLimited({ ...answer, status: 429 })
      ]
    ) {
      assert.notInclude(Words.failure(item({ state: "failed", error: { tag, message } })), "initiateUpload")
    }
  })
})
