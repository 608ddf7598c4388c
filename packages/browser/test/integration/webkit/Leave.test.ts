import { leave } from "../laws/leave.js"
import { WebKitLive } from "../support/webkit.js"

leave(WebKitLive, "WebKit", { done: ["pagehide true", "pageshow true"], uploading: ["pagehide true", "pageshow true"] })
