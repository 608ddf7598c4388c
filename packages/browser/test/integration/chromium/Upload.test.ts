import { uploads } from "../laws/uploads.js"
import { ChromiumLive } from "../support/chromium.js"

uploads(ChromiumLive, "Chromium")
