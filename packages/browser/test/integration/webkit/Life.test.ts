import { life } from "../laws/life.js"
import { WebKitLive } from "../support/webkit.js"

life(WebKitLive, "WebKit", { seesDates: true, saysOfAnotherDate: "SourceUnreadable" })
