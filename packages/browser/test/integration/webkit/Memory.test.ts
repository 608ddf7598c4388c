import { memory } from "../laws/memory.js"
import { WebKitLive } from "../support/webkit.js"

memory(WebKitLive, "WebKit", { file: 1024, growth: 128 })
