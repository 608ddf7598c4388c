import { queue } from "../laws/queue.js"
import { ChromiumLive } from "../support/chromium.js"

queue(ChromiumLive, "Chromium")
