import { page } from "../laws/page.js"
import { WebKitLive } from "../support/webkit.js"

page(WebKitLive, "WebKit")
