import { life } from "../laws/life.js"
import { ChromiumLive } from "../support/chromium.js"

life(ChromiumLive, "Chromium", { seesDates: true, saysOfAnotherDate: "SourceChanged" })
