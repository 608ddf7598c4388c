import { parentPort } from "node:worker_threads"
import { runRange } from "./Range.js"

parentPort?.on("message", (range: Parameters<typeof runRange>[0]) => parentPort?.postMessage(runRange(range)))
