/** workerd: a worker without Node's interfaces. Its test writes a line of JSON. */
import type { Setting } from "./Everything.js"
import { tried } from "./Layers.js"

export default {
  test: async (_: unknown, { SETTING }: { readonly SETTING: Setting }): Promise<void> => {
    console.log(JSON.stringify(await tried(SETTING)))
  }
}
