import { faults } from "../laws/faults.js"
import { FirefoxLive } from "../support/firefox.js"

faults(FirefoxLive, "Firefox")
