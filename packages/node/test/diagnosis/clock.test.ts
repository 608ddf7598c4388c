import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as Clock from "../../src/diagnosis/clock.js"

type Offsets = Partial<Record<"storage" | "urls" | "service", number>>

const hour = 3600

const judged = ({ service, storage, urls }: Offsets) => {
  const readings = [
    ...(service === undefined ? [] : [{ owner: "service" as const, offset: service }]),
    ...(urls === undefined ? [] : [{ owner: "urls" as const, offset: urls }]),
    ...(storage === undefined ? [] : [{ owner: "storage" as const, offset: storage }])
  ]
  const result = Clock.judge(readings)
  return { failed: "_tag" in result, found: result.found, advice: "_tag" in result ? result.remedy : result.note }
}

describe("the clock of a diagnosis", () => {
  it.each<readonly [Offsets, boolean, string, RegExp | undefined]>([
    [{}, false, "neither the service nor storage reports its time", undefined],
    [{ service: 1 }, false, "this machine's is the same as the service's", undefined],
    [{ service: 0, urls: 2, storage: -1 }, false, "the same as the service's, its URLs' and storage's", undefined],
    [{ service: 5 * hour, urls: 0, storage: 1 }, false, "the service's is 5h ahead of", /Uploads do not depend on it/],
    [
      { service: -5 * hour, urls: 0, storage: 0 },
      false,
      "the service's is 5h behind its URLs', storage's and this machine's",
      /gateway/
    ],
    [
      { service: hour, urls: hour, storage: hour },
      true,
      "this machine's is 1h behind the service's",
      /Set this machine/
    ],
    [{ service: -60, urls: -60, storage: -60 }, false, "this machine's is 1m ahead of", /Set this machine/],
    [
      { service: 0, urls: 0, storage: hour },
      false,
      "storage's is 1h ahead of the service's, its URLs' and this machine's",
      /storage's operator/
    ],
    [{ service: 0, urls: -hour, storage: 0 }, false, "its URLs' is 1h behind the service's", /expire too early/],
    [
      { service: hour, urls: hour, storage: 0 },
      false,
      "its URLs' is 1h ahead of storage's and this machine's",
      /not valid yet/
    ],
    [
      { service: hour, urls: 0, storage: hour },
      false,
      "storage's is 1h ahead of its URLs' and this machine's",
      /operator/
    ],
    [
      { service: hour, storage: hour },
      false,
      "this machine's is 1h behind the service's and storage's",
      /Set this machine/
    ],
    [{ service: hour }, false, "this machine's is 1h behind the service's", /Set this machine/],
    [{ storage: hour }, false, "this machine's is 1h behind storage's", /Set this machine/]
  ])("%j: failed %s: %s", (offsets, failed, words, advice) => {
    const result = judged(offsets)
    assert.deepStrictEqual([result.failed, result.found.includes(words)], [failed, true], result.found)
    if (advice === undefined) assert.isUndefined(result.advice)
    else assert.match(result.advice ?? "", advice)
  })

  const offset = FastCheck.integer({ min: -2, max: 2 })
  const owner = FastCheck.constantFrom("service", "urls", "storage")

  it.prop("the one clock that is alone is the one that is blamed", {
    owner,
    offsets: FastCheck.record({ service: offset, urls: offset, storage: offset }),
    by: FastCheck.oneof(FastCheck.integer({ min: 20, max: 90_000 }), FastCheck.integer({ min: -90_000, max: -20 }))
  }, ({ by, offsets, owner }) => {
    const { found } = judged({ ...offsets, [owner]: by })
    const name = { service: "the service's", urls: "its URLs'", storage: "storage's" }[owner]
    assert.isTrue(found.startsWith(`${name} is `), found)
    assert.notInclude(found, ";")
  })
})
