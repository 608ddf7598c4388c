import { HttpClient, HttpClientError, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schema, TestClock } from "effect"
import { isGenuine } from "../../examples/src/WebhookReceiver.js"
import type { FileEvent } from "../src/FileTable.js"
import * as NodeWebhooks from "../src/node/webhooks.js"
import * as Webhooks from "../src/Webhooks.js"

const secret = Redacted.make("a secret of the receiver")
const url = Redacted.make("https://app.test/files?key=hidden")

const event: FileEvent = {
  id: "1/failed",
  kind: "failed",
  attempts: 2,
  file: {
    id: "1",
    tenant: "acme",
    owner: { id: "ann", name: "Ann" },
    name: "notes.txt",
    mediaType: undefined,
    size: 6,
    metadata: { album: "Rotterdam" },
    kind: "single",
    key: "files/acme/1",
    uploadId: undefined,
    etag: undefined,
    checksum: undefined,
    versionId: undefined,
    reason: "5 bytes are stored, 6 were declared",
    state: "failed",
    createdAt: 0,
    settledAt: 1,
    expiresAt: 2
  }
}

interface Sent {
  readonly body: string
  readonly signature: string
}

/** What a receiver that answers so is sent, and what its sender makes of it. */
const told = (answer: number | "refuses" | "hangs") =>
  Effect.gen(function*() {
    const sent: Array<Sent> = []
    const client = HttpClient.make((request) =>
      Effect.gen(function*() {
        const { body, headers } = request
        assert.strictEqual(body._tag, "Uint8Array")
        if (body._tag === "Uint8Array") {
          sent.push({ body: new TextDecoder().decode(body.body), signature: headers[Webhooks.HEADER] ?? "" })
        }
        if (answer === "hangs") return yield* Effect.never
        if (answer === "refuses") {
          const cause = Object.assign(new Error(`connect ${Redacted.value(url)}`), { code: "ECONNREFUSED" })
          return yield* new HttpClientError.RequestError({ request, reason: "Transport", cause })
        }
        return HttpClientResponse.fromWeb(request, new Response(null, { status: answer }))
      })
    )
    const hooks = yield* Effect.provideService(Webhooks.make({ url, secret }), HttpClient.HttpClient, client)
    const telling = yield* Effect.fork(Effect.either(hooks.onFailed(event)))
    yield* TestClock.adjust("30 seconds")
    return { sent, result: yield* telling }
  })

describe("a webhook", () => {
  it.effect.each<readonly [number | "refuses" | "hangs", string | undefined]>([
    [200, undefined],
    [204, undefined],
    [301, "was answered with 301"],
    [410, "was answered with 410"],
    [500, "was answered with 500"],
    ["refuses", "did not answer (ECONNREFUSED)"],
    ["hangs", "did not answer within 30 seconds"]
  ])("is taken, or comes again, where its receiver answers %s", ([answer, problem]) =>
    Effect.gen(function*() {
      const { result, sent } = yield* told(answer)
      assert.strictEqual(sent.length, 1)
      if (problem === undefined) return assert.strictEqual(result._tag, "Right")
      assert.isTrue(result._tag === "Left" && result.left instanceof Webhooks.WebhookFailed)
      assert.include(JSON.stringify(result), problem)
      assert.notInclude(JSON.stringify(result), "hidden")
    }))

  it.effect("says what happened, signed with its time: no other body, secret or time has that signature", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.now())
      const { sent: [first] } = yield* told(204)
      const { body = "", signature = "" } = first ?? {}
      assert.deepStrictEqual(yield* Schema.decode(Schema.parseJson(Webhooks.Delivery))(body), {
        id: "1/failed",
        type: "failed",
        attempt: 3,
        file: {
          id: "1",
          tenant: "acme",
          name: "notes.txt",
          type: null,
          size: 6,
          owner: { id: "ann", name: "Ann" },
          created_at: "1970-01-01T00:00:00.000Z",
          metadata: { album: "Rotterdam" },
          reason: "5 bytes are stored, 6 were declared"
        }
      })
      assert.isTrue(isGenuine(Redacted.value(secret), signature, body, Date.now()))
      const others: ReadonlyArray<readonly [string, string, string]> = [
        ["another secret", signature, body],
        [Redacted.value(secret), signature, `${body} `],
        [Redacted.value(secret), "undefined", body],
        [Redacted.value(secret), signature.replace(/t=\d/, "t=9"), body],
        [Redacted.value(secret), Webhooks.signatureOf(secret, body, Date.now() - 600_000), body]
      ]
      for (const other of others) assert.isFalse(isGenuine(...other, Date.now()), other[1])
    }))

  it.each<readonly [string, boolean]>([
    ["93.184.216.34", true],
    ["2606:2800:220:1::1", true],
    ["127.0.0.1", false],
    ["10.1.2.3", false],
    ["172.31.255.255", false],
    ["172.32.0.1", true],
    ["192.168.0.1", false],
    ["100.64.0.1", false],
    ["169.254.169.254", false],
    ["0.0.0.0", false],
    ["224.0.0.1", false],
    ["255.255.255.255", false],
    ["::1", false],
    ["::", false],
    ["fd00::1", false],
    ["fe80::1", false],
    ["::ffff:10.0.0.1", false],
    ["64:ff9b::a00:1", false],
    ["64:ff9b:1::a9fe:a9fe", false],
    ["::7f00:1", false],
    ["::ffff:0:7f00:1", false],
    ["2002:7f00:1::", false],
    ["2001:0:a9fe:a9fe::1", false],
    ["2001:db8::1", false],
    ["fec0::1", false],
    ["192.88.99.1", false],
    ["203.0.113.1", false],
    ["::ffff:8.8.8.8", true]
  ])("may go to %s: %s", (address, may) => {
    assert.strictEqual(NodeWebhooks.isPublic(address), may)
  })

  it.scopedLive.each<readonly [string, boolean, RegExp | undefined]>([
    ["https://app.example/files", false, undefined],
    ["http://app.example/files", false, /expected a URL of https/],
    ["https://127.0.0.1/files", false, /of this machine or of a private network/],
    ["https://[::1]/files", false, /of this machine or of a private network/],
    ["https://2130706433/files", false, /of this machine or of a private network/],
    ["http://127.0.0.1/files", true, undefined]
  ])("%s is used, or refused at the start", ([url, isPrivate, problem]) =>
    Effect.gen(function*() {
      const made = yield* Effect.either(NodeWebhooks.hooks({ url: Redacted.make(url), secret, isPrivate }))
      assert.strictEqual(made._tag, problem === undefined ? "Right" : "Left")
      if (problem !== undefined) assert.match(JSON.stringify(made), problem)
    }))

  it.live("is not sent where its name leads to this machine, which is looked up at each connection", () =>
    Effect.gen(function*() {
      const hooks = yield* NodeWebhooks.hooks({ url: Redacted.make("https://localhost:9/"), secret })
      assert.include(JSON.stringify(yield* Effect.flip(hooks.onRemoved(event))), "did not answer (EPRIVATE)")
    }).pipe(Effect.scoped))
})
