import { assert, describe, it } from "@effect/vitest"
import { FaultScript } from "@stevedore/testing"
import { Either, Schema } from "effect"
import * as FaultFile from "../../src/serve/faultFile.js"

const parsed = (text: string) => Either.getOrThrow(FaultFile.parse("bad-day.faults", text))

const problem = (text: string) =>
  Either.match(FaultFile.parse("bad-day.faults", text), {
    onLeft: (error) => error,
    onRight: (script) => assert.fail(`was read as ${script}`)
  })

describe("FaultFile", () => {
  it.prop("reads the printed form of any script as that script", [FaultScript.arbitrary()], ([script]) => {
    assert.deepStrictEqual(parsed(String(script)), script)
  })

  it.prop("reads the JSON of any script as that script", [FaultScript.arbitrary()], ([script]) => {
    assert.deepStrictEqual(parsed(Schema.encodeSync(Schema.parseJson(FaultScript.FaultScript))(script)), script)
  })

  it("reads sentences with comments, blank lines, chains over several lines and clock skew", () => {
    assert.deepStrictEqual(
      parsed(`
        # a bad day
        clockSkew("10 minutes", "behind")
        on("put").times(2).answer(503, 'SlowDown', { retryAfter: 7 })

        // the third part never gets through at once
        FaultScript.on("putPart")
          .part(3)
          .resetAfter(65_536)
        on("complete").loseAnswer().and(on("list").always().shortPage(2)).and(on("get").stall("body", { afterBytes: 5 }))
      `),
      FaultScript.clockSkew("10 minutes", "behind")
        .and(FaultScript.on("put").times(2).answer(503, "SlowDown", { retryAfter: 7 }))
        .and(FaultScript.on("putPart").part(3).resetAfter(65_536))
        .and(FaultScript.on("complete").loseAnswer())
        .and(FaultScript.on("list").always().shortPage(2))
        .and(FaultScript.on("get").stall("body", { afterBytes: 5 }))
    )
    assert.deepStrictEqual(parsed("# nothing goes wrong\n"), FaultScript.empty)
  })

  it.each<readonly [string, RegExp]>([
    ["on(\"puts\").reset()", /target: /],
    ["on(\"put\").reset", /expected a parenthesis after reset at the end/],
    ["on(\"put\").rest()", /unknown \.rest\(\): expected one of part, times/],
    ["on(\"put\").toString()", /unknown \.toString\(\)/],
    ["on(\"put\").times(2)", /no fault is given/],
    ["on(\"put\").reset().times(2)", /\.times\(\) comes after the fault/],
    ["on(\"put\").times(two).reset()", /expected a parenthesis after two/],
    ["on(\"put\").delay(\"soon\")", /expected a duration, such as "10 seconds", not "soon"/],
    ["on(\"complete\").expire()", /Expire does not apply to "complete"/],
    ["on(\"complete\").part(1).reset()", /has no parts/],
    ["on(\"put\").answer(99)", /fault/],
    ["clockSkew(\"1 minute\", \"left\")", /"ahead" or "behind", not "left"/],
    ["put.reset()", /expected a parenthesis after put/],
    ["put().reset()", /unknown put: expected a sentence/],
    ["on(\"put\").reset() on(\"put\").reset()", /expected the end at "on"/],
    ["on(\"put\") @ 3", /expected the end at "@"/]
  ])("rejects %s with its line, the sentence and the reason", (sentence, reason) => {
    const error = problem(`# one\non("put").reset()\n\n${sentence}\n`)
    assert.deepStrictEqual([error.line, error.sentence], [4, sentence])
    assert.match(error.problem, reason)
    assert.match(error.message, /^bad-day\.faults:4: /)
    assert.include(error.message, sentence)
  })

  it("rejects JSON that is not a script, with the path of an invalid field", () => {
    assert.match(problem("{ \"rules\": [{ \"target\": \"put\" }] }").message, /rules\.0\.fault/)
    assert.match(problem("{ \"rule\": [] }").message, /rule: /)
    assert.match(problem("{").message, /^bad-day\.faults: not a valid fault script/)
  })
})
