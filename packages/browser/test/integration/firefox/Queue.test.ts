import { queue } from "../laws/queue.js"
import { FirefoxLive } from "../support/firefox.js"

queue(FirefoxLive, "Firefox")
