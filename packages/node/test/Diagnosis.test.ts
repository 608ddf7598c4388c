import { HttpClient, HttpClientError } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import * as ObjectStorage from "@stevedore/core/ObjectStorage"
import * as ServiceApi from "@stevedore/core/ServiceApi"
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import * as Diagnosis from "@stevedore/node/Diagnosis"
import { Chunk, Effect, Layer, Option, Redacted, Stream } from "effect"

const extras = { file: Option.none(), origin: Option.none() }

const service = {
  baseUrl: "https://host.example",
  token: Redacted.make("api.secret"),
  profile: ServiceProfile.standard
}

/** A service behind a proxy, which nothing reaches. */
const unreachable = Layer.mergeAll(
  ServiceApi.layerNoop({}),
  ObjectStorage.layerNoop({}),
  Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) => Effect.fail(new HttpClientError.RequestError({ request, reason: "Transport" })))
  )
)

describe("a diagnosis", () => {
  it.effect("has a finding for each check, in their order, and tries none that depends on one that failed", () =>
    Effect.gen(function*() {
      const left: Array<Diagnosis.Left> = []
      const proxy = { origin: "http://proxy.example:3128" }
      const stream = Diagnosis.findings({ service, proxy }, extras, left)
      const findings = Chunk.toReadonlyArray(yield* Stream.runCollect(stream))
      // a second run begins anew
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Stream.runCollect(stream)), findings)
      assert.deepStrictEqual(findings.map(({ check }) => check), [...Diagnosis.checkIds])
      assert.deepStrictEqual(findings.map(({ outcome }) => outcome), [
        "failed",
        ...Diagnosis.checkIds.slice(1).map(() => "skipped" as const)
      ])
      assert.match(findings[0]?.remedy ?? "", /Check the proxy http:\/\/proxy\.example:3128/)
      assert.isFalse(Diagnosis.isWorking(findings))
      assert.deepStrictEqual(left, [])
    }).pipe(Effect.provide(unreachable)))

  it("has the same findings where nothing is tried", () => {
    const findings = Diagnosis.untried(extras, "no configuration")
    assert.deepStrictEqual(findings.map(({ check }) => check), [...Diagnosis.checkIds])
    assert.isTrue(
      findings.every(({ found, outcome }) => outcome === "skipped" && found === "skipped: no configuration")
    )
  })
})
