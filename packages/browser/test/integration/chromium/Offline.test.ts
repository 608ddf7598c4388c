import { offline } from "../laws/faults.js"
import { ChromiumLive } from "../support/chromium.js"

offline(ChromiumLive, "Chromium")
