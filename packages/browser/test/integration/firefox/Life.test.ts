import { life } from "../laws/life.js"
import { FirefoxLive } from "../support/firefox.js"

life(FirefoxLive, "Firefox", { seesDates: false, saysOfAnotherDate: "SourceChanged" })
