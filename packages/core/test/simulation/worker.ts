import { parentPort, workerData } from "node:worker_threads"
import { runRange } from "./Range.js"

parentPort?.postMessage(runRange(workerData))
