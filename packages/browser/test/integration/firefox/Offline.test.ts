import { offline } from "../laws/faults.js"
import { FirefoxLive } from "../support/firefox.js"

offline(FirefoxLive, "Firefox")
