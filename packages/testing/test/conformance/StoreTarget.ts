import { Effect, Layer } from "effect"
import { ObjectStore } from "../../src/index.js"
import * as RealStorage from "../support/realStorage.js"
import { StoreTarget } from "./Target.js"

/** The store that `object-store start` started. */
export const store = Layer.effect(
  StoreTarget,
  Effect.map(ObjectStore.ObjectStore, (store) => ({
    origin: RealStorage.settings.endpoint,
    bucket: RealStorage.bucket,
    credential: RealStorage.credential,
    encryptionHeaders: RealStorage.encryptionHeaders,
    store
  }))
).pipe(Layer.provide(RealStorage.store))
