import { faults } from "../laws/faults.js"
import { WebKitLive } from "../support/webkit.js"

faults(WebKitLive, "WebKit")
