import { field } from "../laws/field.js"
import { fieldUse } from "../laws/fieldUse.js"
import { ChromiumLive } from "../support/chromium.js"

field(ChromiumLive, "Chromium")
fieldUse(ChromiumLive, "Chromium")
