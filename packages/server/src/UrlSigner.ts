/**
 * Pre-signed URLs with AWS Signature Version 4 (query signing, payload not signed), path style.
 *
 * @since 0.1.0
 */
import { Sha256 } from "@aws-crypto/sha256-js"
import { HttpRequest } from "@smithy/protocol-http"
import { getCanonicalQuery, SignatureV4 } from "@smithy/signature-v4"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

/**
 * The credential that signs URLs, and the scope they are signed for.
 *
 * @since 0.1.0
 * @category models
 */
export interface Credential {
  readonly accessKeyId: string
  readonly secretAccessKey: Redacted.Redacted
  readonly region: string
}

/**
 * What to sign. `host` is always among the signed headers; `headers` are the others that the client must send, exactly
 * as given. `at` is in milliseconds of the Unix epoch, `expiresIn` in seconds.
 *
 * @since 0.1.0
 * @category models
 */
export interface UnsignedUrl {
  readonly method: string
  readonly origin: string
  readonly path: string
  readonly query?: Readonly<Record<string, string | ReadonlyArray<string>>> | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly at: number
  readonly expiresIn: number
}

/**
 * A query parameter's value is a list if the parameter occurs more than once.
 *
 * @since 0.1.0
 * @category models
 */
export type SignedQuery = Readonly<Record<string, string | ReadonlyArray<string> | null>>

/**
 * The query that makes the URL a signed one: the given parameters and the six of the signature.
 *
 * @since 0.1.0
 * @category constructors
 */
export const signedQuery = (credential: Credential, unsigned: UnsignedUrl): Effect.Effect<SignedQuery> =>
  Effect.promise(() => {
    const url = new URL(unsigned.origin)
    const headers = { ...unsigned.headers, host: url.host }
    const signer = new SignatureV4({
      service: "s3",
      region: credential.region,
      credentials: {
        accessKeyId: credential.accessKeyId,
        secretAccessKey: Redacted.value(credential.secretAccessKey)
      },
      sha256: Sha256,
      // only S3 signs the path as it is sent, encoded once
      uriEscapePath: false,
      applyChecksum: false
    })
    const query = Object.entries(unsigned.query ?? {}).map(([name, value]) =>
      [name, typeof value === "string" ? value : [...value]] as const
    )
    return signer.presign(
      new HttpRequest({
        method: unsigned.method,
        protocol: url.protocol,
        hostname: url.hostname,
        path: unsigned.path,
        query: Object.fromEntries(query),
        headers,
        // neither absent nor text: this tells the library that the payload is not signed
        body: {}
      }),
      {
        signingDate: new Date(unsigned.at),
        expiresIn: unsigned.expiresIn,
        unhoistableHeaders: new Set(Object.keys(headers))
      }
    ).then((request) => request.query ?? {})
  })

const SIGNATURE = "X-Amz-Signature"

/**
 * Signs a URL.
 *
 * @example
 * import { UrlSigner } from "@stevedore/server"
 * import { Redacted } from "effect"
 *
 * export const url = UrlSigner.sign(
 *   { accessKeyId: "AKIDEXAMPLE", secretAccessKey: Redacted.make("secret"), region: "us-east-1" },
 *   { method: "PUT", origin: "https://storage.test", path: "/bucket/key", at: 0, expiresIn: 10_800 }
 * )
 *
 * @since 0.1.0
 * @category constructors
 */
export const sign = (credential: Credential, unsigned: UnsignedUrl): Effect.Effect<string> =>
  Effect.map(signedQuery(credential, unsigned), (query) => {
    const mutable = Object.entries(query).map(([name, value]) =>
      [name, value === null || typeof value === "string" ? value : [...value]] as const
    )
    const canonical = getCanonicalQuery({
      method: unsigned.method,
      protocol: "https:",
      hostname: "",
      path: unsigned.path,
      headers: {},
      query: Object.fromEntries(mutable)
    })
    return `${unsigned.origin}${unsigned.path}?${canonical}&${SIGNATURE}=${String(query[SIGNATURE])}`
  })
