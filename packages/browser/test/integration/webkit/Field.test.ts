import { field } from "../laws/field.js"
import { WebKitLive } from "../support/webkit.js"

field(WebKitLive, "WebKit")
