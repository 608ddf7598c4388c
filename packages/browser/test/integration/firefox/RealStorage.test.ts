import { realStorage } from "../laws/realStorage.js"
import { FirefoxLive } from "../support/firefox.js"

realStorage(FirefoxLive, "Firefox")
