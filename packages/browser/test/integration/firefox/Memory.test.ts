import { memory } from "../laws/memory.js"
import { FirefoxLive } from "../support/firefox.js"

memory(FirefoxLive, "Firefox", { file: 1024, growth: 64 })
