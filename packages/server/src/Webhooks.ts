/**
 * What a service tells a URL of its files: a POST of JSON for each event, signed, at least once. Whoever receives it answers
 * with 2xx, and tells repeats by `id`.
 */
import { Sha256 } from "@aws-crypto/sha256-js"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { errorCode } from "./base/errorCode.js"
import type { FileEvent } from "./FileTable.js"
import type { HooksService } from "./Hooks.js"

/**
 * Who is told.
 *
 * @category models
 */
export interface Options {
  /** Where each event is sent. It may hold a secret: no log has it. */
  readonly url: Redacted.Redacted
  /** What signs, and is known to the receiver. */
  readonly secret: Redacted.Redacted
  /** Whether `http:`, and addresses of this machine and of private networks, may be used. Defaults to no. */
  readonly isPrivate?: boolean | undefined
}

/**
 * The body of a webhook. `id` is the same however often it is sent, and `attempt` counts from 1.
 *
 * @category models
 */
export const Delivery = Schema.Struct({
  id: Schema.String,
  type: Schema.Literal("completed", "removed", "failed"),
  attempt: Schema.Number,
  file: Schema.Struct({
    id: Schema.String,
    tenant: Schema.String,
    name: Schema.String,
    type: Schema.NullOr(Schema.String),
    size: Schema.Number,
    owner: Schema.Struct({ id: Schema.String, name: Schema.String }),
    created_at: Schema.String,
    metadata: Schema.Record({ key: Schema.String, value: Schema.String }),
    /** Why it has failed. */
    reason: Schema.NullOr(Schema.String)
  })
})

/** @category models */
export interface Delivery extends Schema.Schema.Type<typeof Delivery> {}

/**
 * The header of the signature: `t=SECONDS,v1=HEX`, the HMAC-SHA256 of `SECONDS.BODY` under the secret.
 *
 * @category constants
 */
export const HEADER = "stevedore-signature"

/**
 * The value of {@link HEADER} for a body that is sent at a time in milliseconds.
 *
 * @category combinators
 */
export const signatureOf = (secret: Redacted.Redacted, body: string, at: number): string => {
  const seconds = Math.floor(at / 1000)
  const hash = new Sha256(Redacted.value(secret))
  hash.update(`${seconds}.${body}`)
  return `t=${seconds},v1=${Encoding.encodeHex(hash.digestSync())}`
}

/**
 * A receiver did not take an event.
 *
 * @category errors
 */
export class WebhookFailed
  extends Schema.TaggedError<WebhookFailed>("@stevedore/server/WebhookFailed")("WebhookFailed", {
    problem: Schema.String
  })
{
  override get message(): string {
    return `The webhook ${this.problem}: let its receiver answer 2xx`
  }
}

const deliveryOf = ({ attempts, file, id, kind }: FileEvent): Delivery => ({
  id,
  type: kind,
  attempt: attempts + 1,
  file: {
    id: file.id,
    tenant: file.tenant,
    name: file.name,
    type: file.mediaType ?? null,
    size: file.size,
    owner: file.owner,
    created_at: new Date(file.createdAt).toISOString(),
    metadata: file.metadata ?? {},
    reason: file.reason ?? null
  }
})

/**
 * The hooks that tell. Each event is one POST, without redirects where the client follows none; an answer other than 2xx, or none
 * within 30 seconds, is a failure, and the event comes again.
 *
 * @category constructors
 */
export const make = (
  { secret, url }: Options
): Effect.Effect<Pick<HooksService, "onCompleted" | "onRemoved" | "onFailed">, never, HttpClient.HttpClient> =>
  Effect.map(HttpClient.HttpClient, (client) => {
    // a span would have the URL
    const untraced = HttpClient.withTracerDisabledWhen(client, () => true)
    const tell = (event: FileEvent) =>
      Effect.gen(function*() {
        const body = JSON.stringify(deliveryOf(event))
        const signature = signatureOf(secret, body, yield* Clock.currentTimeMillis)
        const request = HttpClientRequest.post(Redacted.value(url), { headers: { [HEADER]: signature } })
        const { status } = yield* untraced.execute(HttpClientRequest.bodyText(request, body, "application/json")).pipe(
          Effect.scoped,
          // not its cause: it names the URL
          Effect.mapError(({ cause }) => new WebhookFailed({ problem: `did not answer (${errorCode(cause)})` })),
          Effect.timeoutFail({
            duration: "30 seconds",
            onTimeout: () => new WebhookFailed({ problem: "did not answer within 30 seconds" })
          })
        )
        if (status < 200 || status > 299) return yield* new WebhookFailed({ problem: `was answered with ${status}` })
      })
    return { onCompleted: tell, onRemoved: tell, onFailed: tell }
  })
