import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import * as Schema from "effect/Schema"
import type { Open } from "./variationGroups.js"
import { Names } from "./variationGroups.js"

/** The names of the standard profile, of which the first is meant. @internal */
export const standardNames = Schema.decodeUnknownSync(Names)({ ...ServiceProfile.standard.fields, fileId: "id" })

/** What the standard profile assumes. @internal */
export const standardOpen: typeof Open.Type = {
  names: standardNames,
  paths: "standard",
  storage: "amz",
  download: "content",
  completeBody: "none"
}

/** The service that the sandbox is without a variation. @internal */
export const plainVariation = {
  seed: 0,
  session: { envelope: "data", ids: "base62", uploadIds: "base62", urls: "strings", parts: "wished" },
  completion: { status: 200, body: "record", repeated: "as before", pendingSeconds: 0 },
  records: { file: "usual", items: "usual", extraFields: 0, fieldOrder: "usual" },
  storage: {
    urls: "SigV4",
    singleMinutes: 180,
    partMinutes: 180,
    etags: "quoted",
    status: 200,
    body: "nothing",
    repeatsEncryption: true,
    signsPartEncryption: false,
    date: "right"
  },
  download: {
    redirects: 0,
    redirectStatus: 302,
    relative: false,
    length: "declared",
    ranges: "supported",
    validator: "etag",
    mediaType: "declared"
  },
  lists: {
    items: 12,
    largestPage: 100,
    emptyPages: false,
    end: "null",
    nullOnOnePage: false,
    hasMore: "right",
    totals: "right",
    cursors: "base64"
  },
  answers: {
    mediaType: "application/json",
    byteOrderMark: false,
    coding: "none",
    length: "declared",
    drips: false,
    connection: "kept",
    date: "right",
    rateLimit: "none",
    refusals: "errors"
  },
  tokenInfo: "told",
  open: standardOpen
} as const
