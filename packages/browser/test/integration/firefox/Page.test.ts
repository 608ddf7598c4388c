import { page } from "../laws/page.js"
import { FirefoxLive } from "../support/firefox.js"

page(FirefoxLive, "Firefox")
