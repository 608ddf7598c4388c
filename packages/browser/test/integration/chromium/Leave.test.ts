import { leave } from "../laws/leave.js"
import { ChromiumLive } from "../support/chromium.js"

const restored = ["pagehide true", "freeze", "resume", "pageshow true"]

leave(ChromiumLive, "Chromium", { done: restored, uploading: restored })
