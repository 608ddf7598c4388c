import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { runs } from "../../../../testing/test/support/runs.js"
import * as UrlSigner from "../../../src/parts/urlSigner.js"
import { byAws4fetch, credential, parametersOf, unsigned } from "../../support/urlSigner.js"

describe("UrlSigner", () => {
  it.effect.prop(
    "signs as aws4fetch does, to the last byte",
    [credential, unsigned],
    ([by, url]) =>
      Effect.gen(function*() {
        const ours = yield* UrlSigner.sign(by, url)
        const theirs = yield* byAws4fetch(by, url)
        assert.deepStrictEqual(parametersOf(ours), parametersOf(theirs.url))
        assert.strictEqual(new URL(ours).pathname, new URL(theirs.url).pathname)
      }),
    { fastCheck: { numRuns: runs(500) } }
  )
})
