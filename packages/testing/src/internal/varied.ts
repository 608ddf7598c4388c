import type * as HttpApp from "@effect/platform/HttpApp"
import type * as Effect from "effect/Effect"
import type * as Connection from "../Connection.js"
import type { Settings } from "../SandboxOptions.js"
import * as Api from "./variedApi.js"
import * as Forms from "./variedForms.js"
import * as Storage from "./variedStorage.js"
import * as Urls from "./variedUrls.js"

type App = HttpApp.Default<Connection.ConnectionBroken>

/** The two servers as the variation in the settings says that they are. @internal */
export const apps = (sandbox: {
  readonly settings: Settings
  readonly isFinalized: (fileId: string) => Effect.Effect<boolean>
  readonly api: App
  readonly storage: App
}): { readonly api: App; readonly storage: App; readonly inside: (fileId: string) => string } => {
  const { api, isFinalized, settings, storage } = sandbox
  const { variation } = settings
  if (variation === undefined) return { api, storage, inside: (fileId) => fileId }
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
