import { faults } from "../laws/faults.js"
import { ChromiumLive } from "../support/chromium.js"

faults(ChromiumLive, "Chromium")
