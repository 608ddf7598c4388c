import type * as ServeSettings from "@stevedore/server/ServeSettings"
import { invalid, type InvalidInput } from "../options/invalidInput.js"

/** A setting of the service that is wrong, as the command says it. @internal */
export const settingInvalid = (error: ServeSettings.SettingInvalid): InvalidInput =>
  invalid(error.variable, error.problem)
