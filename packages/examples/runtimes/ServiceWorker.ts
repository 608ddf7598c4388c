/** A service worker: it answers a message, which says where the service is, with what was tried. */
import type { Setting } from "./Everything.js"
import { tried } from "./Layers.js"

addEventListener("message", ({ data, ports: [port] }: MessageEvent<Setting>) => {
  void tried(data).then((answer) => port?.postMessage(answer))
})
