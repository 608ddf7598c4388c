import { field } from "../laws/field.js"
import { ChromiumLive } from "../support/chromium.js"

field(ChromiumLive, "Chromium")
