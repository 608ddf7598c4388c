import { memory } from "../laws/memory.js"
import { WebKitLive } from "../support/webkit.js"

memory(WebKitLive, "WebKit", { MiB: 1024 })
