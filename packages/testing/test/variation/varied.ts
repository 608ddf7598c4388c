import * as ListResources from "@stevedore/server/parts/listResources"
import * as Duration from "effect/Duration"
import type * as SandboxOptions from "../../src/SandboxOptions.js"
import type { ServiceVariation } from "./ServiceVariation.js"
import { encryptionHeaders, otherPaths } from "./ServiceVariation.js"
import * as Api from "./variedApi.js"
import * as Forms from "./variedForms.js"
import * as Storage from "./variedStorage.js"
import * as Urls from "./variedUrls.js"

/** The two servers as the variation says that they are. */
const around = (variation: ServiceVariation): SandboxOptions.Around => ({ api, isFinalized, settings, storage }) => {
  const ids = Forms.ids(variation)
  const parts = {
    variation,
    settings,
    ids,
    etags: Forms.etags(variation),
    urls: Urls.make(variation),
    isFinalized
  }
  return { api: Api.make(parts, api), storage: Storage.make(parts, storage), inside: ids.inside }
}

const withSerials = (count: number) =>
  ListResources.seedProjects(count).map((project, serial) => ({ ...project, serial }))

/**
 * The options of a sandbox that is the service: what else it is to do is given after them.
 */
export const options = (variation: ServiceVariation) => {
  const { completion, download, lists, open, storage } = variation
  return {
    around: around(variation),
    minimumPartSize: 1,
    encryptionHeaders: encryptionHeaders(open.storage),
    signPartEncryption: storage.urls === "SigV4" && storage.signsPartEncryption,
    urlLifetime: Duration.minutes(storage.partMinutes),
    singleUrlLifetime: Duration.minutes(storage.singleMinutes),
    processing: Duration.seconds(completion.pendingSeconds),
    download: open.download === "link"
      ? "link" as const
      : download.redirects > 0
      ? "redirect" as const
      : "content" as const,
    paths: open.paths === "standard" ? {} : otherPaths,
    largestPage: lists.largestPage,
    projects: withSerials(lists.items)
  }
}
