/** Without Node: core over `fetch`, and the ready-made layer of a page. */
import { FetchHttpClient } from "@effect/platform"
import { BrowserStevedore } from "@stevedore/browser"
import {
  HttpObjectStorage,
  ServiceApi,
  ServiceConfig,
  TransferGate
} from "@stevedore/core"
import { Effect, Layer } from "effect"
import {
  everything,
  optionsOf,
  type Setting,
  type Tried
} from "./Everything.js"

const overFetch = (setting: Setting) =>
  Layer.merge(ServiceApi.layer, HttpObjectStorage.layer).pipe(
    Layer.provide(ServiceConfig.layer(optionsOf(setting))),
    Layer.provide(FetchHttpClient.layer),
    Layer.merge(TransferGate.layer())
  )

/** Everything, over each of the two. */
export const tried = (
  setting: Setting
): Promise<Readonly<Record<string, Tried>>> =>
  Effect.runPromise(Effect.all({
    "core over fetch": Effect.provide(everything, overFetch(setting)),
    BrowserStevedore: Effect.provide(
      everything,
      BrowserStevedore.layer(optionsOf(setting))
    )
  }))
