import type * as ServeSettings from "@stevedore/server/ServeSettings"
import * as Effect from "effect/Effect"
import { invalid, type InvalidInput } from "../options/invalidInput.js"

/** A setting of the service, whose error is what the command says of it. */
export const setting = <A, R>(
  read: Effect.Effect<A, ServeSettings.SettingInvalid, R>
): Effect.Effect<A, InvalidInput, R> => Effect.mapError(read, ({ problem, variable }) => invalid(variable, problem))
