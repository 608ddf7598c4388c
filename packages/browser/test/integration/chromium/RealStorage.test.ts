import { realStorage } from "../laws/realStorage.js"
import { ChromiumLive } from "../support/chromium.js"

realStorage(ChromiumLive, "Chromium")
