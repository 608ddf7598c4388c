import { assert, describe, it } from "@effect/vitest"
import { PresignedUrl } from "@stevedore/core"
import { withoutSecrets } from "../../../src/storage/withoutSecrets.js"

// RFC 6750 allows fewer. One with a % would read as encoded itself

describe("withoutSecrets", () => {
  it("leaves nothing of one of ten thousand URLs that were issued", () => {
    const signatures = Array.from({ length: 10_000 }, (_, part) => (part * 7919 + 1e15).toString(16).padStart(16, "0"))
    const issued = signatures.map((one) => new PresignedUrl.PresignedUrl(`https://s.test/k?X-Amz-Signature=${one}`))
    assert.strictEqual(
      withoutSecrets(`SignatureProvided ${signatures[9999]} is not it`, { issued }),
      "SignatureProvided <redacted> is not it"
    )
  })
})
