import type * as ServeSettings from "@stevedore/server/ServeSettings"
import { InvalidInput } from "../options/invalidInput.js"

/** A setting of the service that is wrong, as the command says it. @internal */
export const settingInvalid = (error: ServeSettings.SettingInvalid): InvalidInput =>
  new InvalidInput({ input: error.variable, problem: error.problem })
