import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { breaches, met, unseen } from "../lawful/Breaches.js"
import { sentences } from "../lawful/Sentences.js"

describe("a service that breaks the interface", () => {
  for (const breach of breaches) {
    const { does, program, refused: [tag, says], sentence } = breach
    it.effect(`is refused by ${tag} (${sentence}, ${program}: ${does})`, () =>
      Effect.map(met(breach), (error) => {
        assert.strictEqual(error?.tag, tag, error?.message)
        assert.match(error?.message ?? "", says)
      }))
  }

  it("is there for every sentence, unless no client can see it", () => {
    const broken = new Set<string>(breaches.map(({ sentence }) => sentence))
    for (const sentence of Object.keys(sentences)) {
      assert.strictEqual(broken.has(sentence), !(sentence in unseen), sentence)
    }
  })
})
