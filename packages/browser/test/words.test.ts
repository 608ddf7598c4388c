import { assert, describe, it } from "@effect/vitest"
import type { UploadQueue } from "@stevedore/browser"
import * as Words from "@stevedore/browser/words"
import { english } from "@stevedore/browser/words/english"
import { ErrorKind } from "@stevedore/core"
import { FastCheck } from "effect"

const languages = ["en", "de", "es", "fr", "ja", "ar"]

const all = await Promise.all(languages.map(Words.load))

const ofDevelopers =
  /token|profile|service|servic|dienst|perfil|profil|servicio|サービス|トークン|خدمة|رمز|storage|\bURL|http|cors|stevedore/i

const tags = Object.keys(ErrorKind.table)

const item: UploadQueue.Item = {
  id: "1",
  name: "a.txt",
  size: 250_000_000,
  mediaType: "",
  state: "uploading",
  sent: 105_000_000,
  confirmed: 100_000_000,
  speed: 2_000_000,
  secondsLeft: 73,
  stalled: false,
  kept: false,
  error: undefined,
  result: undefined
}

const states = [
  "queued",
  "preparing",
  "uploading",
  "paused",
  "finishing",
  "completed",
  "failed",
  "cancelled",
  "needs-file"
] as const

const refusals = ["Empty", "TooLarge", "WrongType", "Duplicate", "TooMany", "TotalTooLarge"] as const

const limits = { files: 3, size: 1_000_000, total: 9_000_000, accept: ["image/*", ".pdf"] }

const variants = (message: Words.Message): ReadonlyArray<string> =>
  typeof message === "string" ? [message] : Object.values(message)

const placeholders = (message: string) => Array.from(message.matchAll(/\{\w+\}/g), ([found]) => found).sort()

describe.each(all.map((words) => ({ words, language: words.language })))(
  "the words in $language",
  ({ language, words }) => {
    it("are of that language", () => {
      assert.include(languages, language)
    })

    it.each(["resume", "retry", "choose", "open", "copy"] as const)(
      "call the button %s by what is written on it, for who speaks to the page",
      (button) => {
        const written = Words.say(words, `${button}Short`)
        const called = Words.say(words, button === "copy" ? "copyLink" : button, { name: "a.txt" })
        assert.include(called.toLowerCase(), written.toLowerCase())
      }
    )

    it.each(tags)("has words for %s, in which nobody needs to be a developer", (tag) => {
      const text = Words.failure(words, tag)
      assert.isAbove(text.length, 5)
      assert.notMatch(text, ofDevelopers)
      assert.notInclude(text, tag)
      // each that is not the site's own fault says so
      assert.isTrue(Object.hasOwn(Words.reasons, tag))
    })

    it("says nothing that only developers know, and leaves nothing out", () => {
      for (const message of [...Object.values(words.messages), ...Object.values(words.reasons)]) {
        for (const variant of variants(message)) {
          assert.isAbove(variant.trim().length, 0)
          assert.notMatch(variant, ofDevelopers)
        }
      }
    })

    it("has the values in each message that the English one has", () => {
      for (const part of ["messages", "reasons"] as const) {
        for (const [key, message] of Object.entries(english[part])) {
          const own: Words.Message = Reflect.get(words[part], key)
          const allowed = new Set(variants(message).flatMap(placeholders))
          const most = variants(own).map(placeholders).sort((one, other) => other.length - one.length)[0] ?? []
          for (const placeholder of most) assert.include([...allowed], placeholder, key)
          for (const placeholder of allowed) {
            if (key === "filesDone" || key === "files") continue
            assert.include(most, placeholder, key)
          }
        }
      }
    })

    it("replaces every value in every state, refusal and total", () => {
      const texts = [
        ...states.flatMap((
          state
        ) => [Words.state(words, { ...item, state }), Words.progress(words, { ...item, state })]),
        ...refusals.map((reason) => Words.refusal(words, { reason, size: 2_000_000 }, limits)),
        ...([1, 2, 3, 11, 200].flatMap((files) =>
          (["uploading", "paused", "failed", "completed"] as const).map((state) => ({
            state,
            files,
            completed: 1,
            failed: 1,
            size: 1000,
            sent: 500,
            confirmed: 200,
            speed: 3,
            secondsLeft: 4000
          }))
        ).flatMap((totals) => [Words.totals(words, totals), Words.announcement(words, totals)]))
      ]
      for (const text of texts) {
        assert.notMatch(text, /[{}]|undefined|NaN/)
        assert.isAbove(text.length, 1)
      }
    })
  }
)

describe("words", () => {
  it("are English where a language is not known, with the numbers of a region where it is", async () => {
    assert.strictEqual((await Words.load("nl")).language, "en")
    const swiss = await Words.load("de-CH")
    assert.strictEqual(swiss.language, "de-CH")
    assert.strictEqual(swiss.messages.done, "Fertig")
  })

  it.each([
    [0, "0 bytes"],
    [1, "1 byte"],
    [999, "999 bytes"],
    [1000, "1.0 kB"],
    [9949, "9.9 kB"],
    [999_499, "999 kB"],
    [999_500, "1.0 MB"],
    [250_000_000, "250 MB"],
    [10_000_000_000, "10 GB"]
  ])("%d bytes are %s", (count, text) => {
    assert.strictEqual(Words.bytes(english, count), text)
  })

  it.each([
    [3, "seconds left"],
    [31, "35 seconds left"],
    [60, "1 minute left"],
    [130, "3 minutes left"],
    [3600, "1 hr left"],
    [5000, "1 hr 24 min left"]
  ])("%d seconds are %s", (seconds, text) => {
    assert.strictEqual(Words.timeLeft(english, seconds), text)
  })

  it("tell how far an item is, and how it stands before its first byte", () => {
    assert.strictEqual(Words.state(english, item), "105 MB of 250 MB · 2.0 MB/s · 2 minutes left")
    assert.strictEqual(
      Words.state(english, { ...item, sent: 0, speed: undefined, secondsLeft: undefined }),
      "250 MB · starting"
    )
    assert.strictEqual(Words.progress(english, item), "42%, 2 minutes left")
  })

  it.each(
    [
      ["server", "the server is busy"],
      ["limit", "too many uploads"],
      ["storage", "the file store is busy"],
      ["network", "no connection"]
    ] as const
  )("say why nothing moves: %s", (waitingFor, text) => {
    for (const state of ["preparing", "uploading", "finishing"] as const) {
      const waiting = { ...item, sent: 0, speed: undefined, secondsLeft: undefined, state, waitingFor, retryIn: 20 }
      assert.strictEqual(Words.state(english, waiting), `250 MB · ${text} · again in 20 sec`)
    }
  })

  it.each(
    [
      [{ tag: "RequestRejected", status: 413 }, "tooLarge"],
      [{ tag: "StorageRejected", status: 413 }, "tooLarge"],
      [{ tag: "RequestRejected", status: 422 }, "owner"],
      [{ tag: "NotFound", status: 404, operation: "initiateLargeUpload" }, "owner"],
      [{ tag: "NotFound", status: 404, operation: "completeUpload" }, "startOver"],
      [{ tag: "TooMany" }, "tooMany"],
      [{ tag: "nobody's" }, "owner"]
    ] as const
  )("know what an answer means to a visitor: %j", (error, reason) => {
    assert.strictEqual(Words.reasonOf({ ...error, message: "for developers" }), reason)
    const told = { error: { ...error, message: "for developers", reason: "The album is full." }, size: 1 }
    if (error.tag !== "TooMany") {
      assert.strictEqual(Words.failureOf(english, { ...told, state: "failed" }, limits), "The album is full.")
    }
  })

  it("name the limit that a file exceeds", () => {
    assert.strictEqual(
      Words.refusal(english, { reason: "TooLarge", size: 2_000_000 }, limits),
      "It has 2.0 MB; at most 1.0 MB are accepted."
    )
    assert.strictEqual(
      Words.refusal(english, { reason: "WrongType", size: 1 }, limits),
      "Only images or PDF are accepted."
    )
  })

  it("show a deceiving name as what it is", () => {
    assert.strictEqual(Words.nameOf(english, "notes_\u202efdp.exe"), "notes_\ufffdfdp.exe")
    assert.strictEqual(Words.nameOf(english, " "), "(no name)")
    assert.lengthOf(Array.from(Words.nameOf(english, "🙂".repeat(300))), 100)
  })

  it.prop(
    "part a name in two: the end is short and begins between words, and nothing is lost",
    [FastCheck.string({ unit: "grapheme" })],
    ([name]) => {
      const [start, end] = Words.nameInParts(english, name)
      assert.isAtMost(Array.from(end).length, 13)
      assert.isAtMost(Array.from(end).length, Array.from(start).length + 1)
      if (Array.from(name).length <= 100) assert.strictEqual(start + end, Words.nameOf(english, name))
      assert.strictEqual(Words.nameInParts(english, `${name}مقابلة مع السيد والجزء الأول.txt`)[1], " الأول.txt")
    }
  )
})
