import { queue } from "../laws/queue.js"
import { WebKitLive } from "../support/webkit.js"

queue(WebKitLive, "WebKit", { ownFiles: true })
