/**
 * How a sandbox behaves: the options and their defaults.
 *
 * @since 0.1.0
 */
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import * as Duration from "effect/Duration"
import * as Redacted from "effect/Redacted"
import * as Exchange from "./Exchange.js"
import * as FaultScript from "./FaultScript.js"
import * as ObjectStore from "./ObjectStore.js"
import type * as UrlSigner from "./UrlSigner.js"

/**
 * A record of a list, as it goes over the wire. Every record has an `id` and a `created_at`.
 *
 * @since 0.1.0
 * @category models
 */
export type ListRecord = Readonly<Record<string, unknown>>

/**
 * What can be chosen of a sandbox. Every option has a default.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** The one bearer token that is let in. Default `api.sandbox`. */
  readonly token?: Redacted.Redacted | string | undefined
  /** Where the service is reached, without a path. Default `https://api.sandbox.test`. */
  readonly apiOrigin?: string | undefined
  /** Where the storage is reached, without a path. Another origin than the service's. Default `https://storage.sandbox.test`. */
  readonly storageOrigin?: string | undefined
  /** A path before every path of the service, such as `/api`. Default none. */
  readonly apiBasePath?: string | undefined
  /** Default `stevedore-sandbox`. */
  readonly bucket?: string | undefined
  /** The credential that URLs are signed with. Default one that is worth nothing anywhere else. */
  readonly credential?: UrlSigner.Credential | undefined
  /** How long the URLs of an upload are valid. Default 3 hours (service contract). */
  readonly urlLifetime?: Duration.DurationInput | undefined
  /** How long the URL of a download is valid. Default 1 hour (service contract). */
  readonly downloadLifetime?: Duration.DurationInput | undefined
  /** After how long an unfinished upload is forgotten. Default 24 hours (service contract). */
  readonly orphanLifetime?: Duration.DurationInput | undefined
  /** How long a finalized file stays `pending`. Default none: it is `completed` at once. */
  readonly processing?: Duration.DurationInput | undefined
  /** The part size, in bytes, that the server aims at when the client leaves the number of parts open. Default 16 MiB. */
  readonly recommendedPartSize?: number | undefined
  /** The least size of all parts but the last, in bytes. Default 5 MiB. Honoured by the stores that the layers make. */
  readonly minimumPartSize?: number | undefined
  /** The headers that the single PUT has to carry and its URL signs. Default `x-amz-server-side-encryption: aws:kms`. */
  readonly encryptionHeaders?: Readonly<Record<string, string>> | undefined
  /** Whether the single PUT's URL signs the declared media type too. Default no. */
  readonly signContentType?: boolean | undefined
  /**
   * What a download answers: the content (default), JSON with a pre-signed URL (the live service), or a redirect to that
   * URL.
   */
  readonly download?: "content" | "link" | "redirect" | undefined
  /** The paths of the calls, of which any may be another than the contract's. The lists stay where they are. */
  readonly paths?: ServiceProfile.Changes["paths"]
  /** What the fields of an initiate are called. Default `name` and `type`. */
  readonly initiateFields?: { readonly name: string; readonly type: string } | undefined
  /** How an answer of initiate is written, where the contract leaves it open. */
  readonly sessionShape?: {
    /** Where the file id stands. Default `id`. */
    readonly fileId?: "id" | "file_id" | undefined
    /** Whether the answer stands in `data`. Default yes. */
    readonly envelope?: boolean | undefined
    /** What the elements of `urls` are: strings (default), or objects of `url` and `part_number`. */
    readonly urls?: "strings" | "objects" | undefined
  } | undefined
  /** Requests that the service takes in a window, over all of it. Default no limit. The contract's is 200 in a minute. */
  readonly rateLimit?: { readonly limit: number; readonly window: Duration.DurationInput } | undefined
  /** How far the servers' clocks are ahead of Effect's `Clock`, in milliseconds; negative when they are behind. Default 0. */
  readonly clockOffsetMillis?: number | undefined
  /** How many PUTs may be in flight at once: more are a breach in the report, and are served all the same. Default any number. */
  readonly inFlightLimit?: number | undefined
  /** The largest page that the service gives, whatever is asked for. Default 100. */
  readonly largestPage?: number | undefined
  /** How many projects there are, or the projects themselves. Default none. */
  readonly projects?: number | ReadonlyArray<ListRecord> | undefined
  /**
   * Records of the other lists, by what follows `/v1/` in their path: `tags`, `contacts`, `folders/{id}/contents`, and any
   * that only you know of, such as `projects/templates`, which is then served without filters.
   */
  readonly lists?: Readonly<Record<string, ReadonlyArray<ListRecord>>> | undefined
  /** CORS at the storage. `exposeEtag: false` hides the etag from pages. Default: allowed, with the etag exposed. */
  readonly cors?: false | { readonly exposeEtag: boolean } | undefined
  /** What goes wrong, as a script. Default nothing. */
  readonly faults?: FaultScript.FaultScript | undefined
  /** What interferes with the requests, when a script does not do: asked where the script has nothing to say. Default nothing. */
  readonly interceptor?: Exchange.Interceptor | undefined
}

/**
 * The options with every default filled in. Durations are in milliseconds.
 *
 * @since 0.1.0
 * @category models
 */
export interface Settings {
  readonly token: Redacted.Redacted
  readonly apiOrigin: string
  readonly storageOrigin: string
  readonly apiBasePath: string
  readonly bucket: string
  readonly credential: UrlSigner.Credential
  readonly urlLifetimeMillis: number
  readonly downloadLifetimeMillis: number
  readonly orphanLifetimeMillis: number
  readonly processingMillis: number
  readonly recommendedPartSize: number
  readonly minimumPartSize: number
  readonly encryptionHeaders: Readonly<Record<string, string>>
  readonly signContentType: boolean
  readonly download: "content" | "link" | "redirect"
  readonly paths: ServiceProfile.ServiceProfile["paths"]
  readonly initiateFields: { readonly name: string; readonly type: string }
  readonly sessionShape: {
    readonly fileId: "id" | "file_id"
    readonly envelope: boolean
    readonly urls: "strings" | "objects"
  }
  readonly rateLimit: { readonly limit: number; readonly windowMillis: number } | undefined
  readonly clockOffsetMillis: number
  readonly inFlightLimit: number | undefined
  readonly largestPage: number
  readonly projects: number | ReadonlyArray<ListRecord>
  readonly lists: Readonly<Record<string, ReadonlyArray<ListRecord>>>
  readonly cors: false | { readonly exposeEtag: boolean }
  readonly faults: FaultScript.FaultScript
  readonly interceptor: Exchange.Interceptor
}

/**
 * The default token.
 *
 * @since 0.1.0
 * @category constants
 */
export const DEFAULT_TOKEN = "api.sandbox"

const defaultCredential: UrlSigner.Credential = {
  accessKeyId: "AKIDSTEVEDORESANDBOX",
  secretAccessKey: Redacted.make("stevedore-sandbox-secret"),
  region: "us-east-1"
}

const lowerCaseNames = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const MIB = 1024 * 1024

/**
 * Fills in the defaults.
 *
 * @since 0.1.0
 * @category constructors
 */
export const resolve = (options: Options = {}): Settings => {
  const token = options.token ?? DEFAULT_TOKEN
  return {
    token: Redacted.isRedacted(token) ? token : Redacted.make(token),
    apiOrigin: options.apiOrigin ?? "https://api.sandbox.test",
    storageOrigin: options.storageOrigin ?? "https://storage.sandbox.test",
    apiBasePath: options.apiBasePath ?? "",
    bucket: options.bucket ?? "stevedore-sandbox",
    credential: options.credential ?? defaultCredential,
    urlLifetimeMillis: Duration.toMillis(options.urlLifetime ?? "3 hours"),
    downloadLifetimeMillis: Duration.toMillis(options.downloadLifetime ?? "1 hour"),
    orphanLifetimeMillis: Duration.toMillis(options.orphanLifetime ?? "24 hours"),
    processingMillis: Duration.toMillis(options.processing ?? 0),
    recommendedPartSize: options.recommendedPartSize ?? 16 * MIB,
    minimumPartSize: options.minimumPartSize ?? ObjectStore.MINIMUM_PART_BYTES,
    encryptionHeaders: lowerCaseNames(options.encryptionHeaders ?? { "x-amz-server-side-encryption": "aws:kms" }),
    signContentType: options.signContentType ?? false,
    download: options.download ?? "content",
    paths: ServiceProfile.extend(ServiceProfile.standard, { paths: options.paths }).paths,
    initiateFields: options.initiateFields ?? { name: "name", type: "type" },
    sessionShape: {
      fileId: options.sessionShape?.fileId ?? "id",
      envelope: options.sessionShape?.envelope ?? true,
      urls: options.sessionShape?.urls ?? "strings"
    },
    rateLimit: options.rateLimit === undefined
      ? undefined
      : { limit: options.rateLimit.limit, windowMillis: Duration.toMillis(options.rateLimit.window) },
    clockOffsetMillis: options.clockOffsetMillis ?? 0,
    inFlightLimit: options.inFlightLimit,
    largestPage: options.largestPage ?? 100,
    projects: options.projects ?? 0,
    lists: options.lists ?? {},
    cors: options.cors ?? { exposeEtag: true },
    faults: options.faults ?? FaultScript.empty,
    interceptor: options.interceptor ?? Exchange.pass
  }
}
