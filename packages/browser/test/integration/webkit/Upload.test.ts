import { uploads } from "../laws/uploads.js"
import { WebKitLive } from "../support/webkit.js"

uploads(WebKitLive, "WebKit")
