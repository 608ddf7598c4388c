import { element } from "../laws/element.js"
import { WebKitLive } from "../support/webkit.js"

element(WebKitLive, "WebKit")
