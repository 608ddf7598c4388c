import { memory } from "../laws/memory.js"
import { FirefoxLive } from "../support/firefox.js"

memory(FirefoxLive, "Firefox", { MiB: 1024 })
