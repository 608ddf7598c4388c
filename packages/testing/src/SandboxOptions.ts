/** How a sandbox behaves: the options and their defaults. */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import * as ObjectStore from "@stevedore/server/ObjectStore"
import type { ListRecord } from "@stevedore/server/parts/listResources"
import type * as UrlSigner from "@stevedore/server/parts/urlSigner"
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Connection from "./Connection.js"
import * as Exchange from "./Exchange.js"
import * as FaultScript from "./FaultScript.js"

/**
 * The options of a sandbox. All of them have defaults.
 *
 * @category models
 */
export interface Options {
  /** The only bearer token that is accepted. Defaults to `api.sandbox`. */
  readonly token?: Redacted.Redacted | string | undefined
  /** The origin of the service. Defaults to `https://api.sandbox.test`. */
  readonly apiOrigin?: string | undefined
  /** The origin of storage, which must differ from the service's. Defaults to `https://storage.sandbox.test`. */
  readonly storageOrigin?: string | undefined
  /** A prefix of every path of the service, such as `/api`. Defaults to none. */
  readonly apiBasePath?: string | undefined
  /** Defaults to `stevedore-sandbox`. */
  readonly bucket?: string | undefined
  /** The credential that signs URLs. Defaults to one that is worthless anywhere else. */
  readonly credential?: UrlSigner.Credential | undefined
  /** How long the URLs of an upload are valid. Defaults to 3 hours (service contract). */
  readonly urlLifetime?: Duration.DurationInput | undefined
  /** How long the URL of a single PUT is valid. Defaults to `urlLifetime`. */
  readonly singleUrlLifetime?: Duration.DurationInput | undefined
  /** How long the URL of a download is valid. Defaults to 1 hour (service contract). */
  readonly downloadLifetime?: Duration.DurationInput | undefined
  /** How long until an unfinished upload is forgotten. Defaults to 24 hours (service contract). */
  readonly orphanLifetime?: Duration.DurationInput | undefined
  /** How long a finalized file stays `pending`. By default it is `completed` at once. */
  readonly processing?: Duration.DurationInput | undefined
  /**
   * The part size, in bytes, that the server aims at if the client leaves the number of parts open. Defaults to 16 MiB.
   */
  readonly recommendedPartSize?: number | undefined
  /**
   * The minimum size of all parts but the last, in bytes. Defaults to 5 MiB. Honoured by the stores that the layers
   * make.
   */
  readonly minimumPartSize?: number | undefined
  /**
   * The headers that the single PUT must carry and its URL signs. Defaults to `x-amz-server-side-encryption: aws:kms`.
   */
  readonly encryptionHeaders?: Readonly<Record<string, string>> | undefined
  /** Whether the single PUT's URL also signs the declared media type. Defaults to no. */
  readonly signContentType?: boolean | undefined
  /** Whether the URLs of parts sign the encryption headers, too. Defaults to no. */
  readonly signPartEncryption?: boolean | undefined
  /**
   * What a download returns: the content (default), JSON with a pre-signed URL (the live service), or a redirect to
   * that URL.
   */
  readonly download?: "content" | "link" | "redirect" | undefined
  /** The paths of the calls; any of them may differ from the contract's. Lists keep theirs. */
  readonly paths?: ServiceProfile.Changes["paths"]
  /** The names of the fields, as in a profile. Of several names for one field, the sandbox uses the first. */
  readonly fields?: ServiceProfile.Changes["fields"]
  /** Whether single resources come in `data`. Defaults to `data`. */
  readonly envelope?: "data" | "none" | undefined
  /** The body that Complete upload must have, as in a profile. Defaults to none, and then any is accepted. */
  readonly completeUploadBody?: ServiceProfile.CompleteUploadBody | undefined
  /** The elements of `urls`: strings (default), or objects with the profile's `partUrl` and `partNumber`. */
  readonly partUrls?: "strings" | "objects" | undefined
  /**
   * How many requests the service accepts per window, in total. Defaults to no limit. The contract's is 200 per minute.
   */
  readonly rateLimit?: { readonly limit: number; readonly window: Duration.DurationInput } | undefined
  /**
   * How far the servers' clocks are ahead of Effect's `Clock`, in milliseconds; negative if they are behind. Defaults
   * to 0.
   */
  readonly clockOffsetMillis?: number | undefined
  /**
   * How many PUTs may be in flight at once. More are a breach in the report, but are still served. Defaults to no
   * limit.
   */
  readonly inFlightLimit?: number | undefined
  /** The largest page that the service returns, whatever is requested. Defaults to 100. */
  readonly largestPage?: number | undefined
  /** How many projects there are, or the projects themselves. Defaults to none. */
  readonly projects?: number | ReadonlyArray<ListRecord> | undefined
  /**
   * Records of the other lists, by the rest of their path after `/v1/`: `tags`, `contacts`, `folders/{id}/contents`,
   * and any of your own, such as `projects/templates`, which is served without filters.
   */
  readonly lists?: Readonly<Record<string, ReadonlyArray<ListRecord>>> | undefined
  /**
   * CORS at storage. `exposeEtag: false` hides the etag from pages. By default, CORS is allowed and the etag exposed.
   */
  readonly cors?: false | { readonly exposeEtag: boolean } | undefined
  /** What goes wrong, as a script. Defaults to nothing. */
  readonly faults?: FaultScript.FaultScript | undefined
  /** Interferes with requests in code. It is called when the script has nothing to say. Defaults to nothing. */
  readonly interceptor?: Exchange.Interceptor | undefined
  /** What stands around the two servers, where a service answers otherwise. @internal */
  readonly around?: Around | undefined
}

/**
 * The two servers of a sandbox.
 *
 * @internal
 */
export interface Servers {
  readonly api: HttpApp.Default<Connection.ConnectionBroken>
  readonly storage: HttpApp.Default<Connection.ConnectionBroken>
}

/**
 * Two servers in place of those that are inside, and the id inside of a file that a client knows.
 *
 * @internal
 */
export type Around = (
  sandbox: Servers & {
    readonly settings: Settings
    readonly isFinalized: (fileId: string) => Effect.Effect<boolean>
  }
) => Servers & { readonly inside: (fileId: string) => string }

/**
 * The options with every default filled in. Durations are in milliseconds.
 *
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
  readonly singleUrlLifetimeMillis: number
  readonly downloadLifetimeMillis: number
  readonly orphanLifetimeMillis: number
  readonly processingMillis: number
  readonly recommendedPartSize: number
  readonly minimumPartSize: number
  readonly encryptionHeaders: Readonly<Record<string, string>>
  readonly signContentType: boolean
  readonly signPartEncryption: boolean
  readonly download: "content" | "link" | "redirect"
  readonly paths: ServiceProfile.ServiceProfile["paths"]
  readonly fields: ServiceProfile.ServiceProfile["fields"]
  readonly envelope: "data" | "none"
  readonly completeUploadBody: ServiceProfile.CompleteUploadBody
  readonly partUrls: "strings" | "objects"
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
 * @category constructors
 */
export const resolve = (options: Options = {}): Settings => {
  const token = options.token ?? DEFAULT_TOKEN
  const { completeUploadBody, fields, paths } = options
  const profile = ServiceProfile.extend(ServiceProfile.standard, { completeUploadBody, fields, paths })
  return {
    token: Redacted.isRedacted(token) ? token : Redacted.make(token),
    apiOrigin: options.apiOrigin ?? "https://api.sandbox.test",
    storageOrigin: options.storageOrigin ?? "https://storage.sandbox.test",
    apiBasePath: options.apiBasePath ?? "",
    bucket: options.bucket ?? "stevedore-sandbox",
    credential: options.credential ?? defaultCredential,
    urlLifetimeMillis: Duration.toMillis(options.urlLifetime ?? "3 hours"),
    singleUrlLifetimeMillis: Duration.toMillis(options.singleUrlLifetime ?? options.urlLifetime ?? "3 hours"),
    downloadLifetimeMillis: Duration.toMillis(options.downloadLifetime ?? "1 hour"),
    orphanLifetimeMillis: Duration.toMillis(options.orphanLifetime ?? "24 hours"),
    processingMillis: Duration.toMillis(options.processing ?? 0),
    recommendedPartSize: options.recommendedPartSize ?? 16 * MIB,
    minimumPartSize: options.minimumPartSize ?? ObjectStore.MINIMUM_PART_BYTES,
    encryptionHeaders: lowerCaseNames(options.encryptionHeaders ?? { "x-amz-server-side-encryption": "aws:kms" }),
    signContentType: options.signContentType ?? false,
    signPartEncryption: options.signPartEncryption ?? false,
    download: options.download ?? "content",
    paths: profile.paths,
    fields: profile.fields,
    envelope: options.envelope ?? "data",
    completeUploadBody: profile.completeUploadBody,
    partUrls: options.partUrls ?? "strings",
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
