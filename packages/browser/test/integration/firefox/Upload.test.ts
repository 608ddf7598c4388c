import { uploads } from "../laws/uploads.js"
import { FirefoxLive } from "../support/firefox.js"

uploads(FirefoxLive, "Firefox")
