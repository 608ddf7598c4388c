import { field } from "../laws/field.js"
import { FirefoxLive } from "../support/firefox.js"

field(FirefoxLive, "Firefox", { remembers: true })
