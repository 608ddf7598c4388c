import type { Topic } from "../Topic.js"
import { bandwidth } from "./bandwidth.js"
import { bulk } from "./bulk.js"
import { bundle } from "./bundle.js"
import { command } from "./command.js"
import { download } from "./download.js"
import { effect4 } from "./effect4.js"
import { hostile } from "./hostile.js"
import { latency } from "./latency.js"
import { lists } from "./lists.js"
import { memory } from "./memory.js"
import { scaling } from "./scaling.js"
import { serve } from "./serve.js"
import { server } from "./server.js"
import { smallFiles } from "./smallFiles.js"
import { startup } from "./startup.js"
import { uploadHttp, uploadTls } from "./upload.js"
import { weights } from "./weights.js"
import { xhr } from "./xhr.js"

/** All topics, in the order in which they run. */
export const topics: ReadonlyArray<Topic> = [
  uploadHttp,
  uploadTls,
  command,
  download,
  bandwidth,
  latency,
  smallFiles,
  effect4,
  lists,
  server,
  serve,
  hostile,
  startup,
  memory,
  bundle,
  weights,
  xhr,
  scaling,
  bulk
]
