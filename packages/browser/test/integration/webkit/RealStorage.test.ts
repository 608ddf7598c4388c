import { realStorage } from "../laws/realStorage.js"
import { WebKitLive } from "../support/webkit.js"

realStorage(WebKitLive, "WebKit")
