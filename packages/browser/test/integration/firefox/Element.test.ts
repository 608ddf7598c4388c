import { element } from "../laws/element.js"
import { FirefoxLive } from "../support/firefox.js"

element(FirefoxLive, "Firefox")
