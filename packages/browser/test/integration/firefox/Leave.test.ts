import { leave } from "../laws/leave.js"
import { FirefoxLive } from "../support/firefox.js"

// it keeps no page with a lock
leave(FirefoxLive, "Firefox", { done: ["pagehide true", "pageshow true"], uploading: null })
