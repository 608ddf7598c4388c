import type { Topic } from "../Topic.js"
import { uploadHttp, uploadTls } from "./upload.js"

/** All topics, in the order in which they run. */
export const topics: ReadonlyArray<Topic> = [uploadHttp, uploadTls]
