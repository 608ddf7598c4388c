/** An upload and the queue. */
export { make } from "@stevedore/browser/UploadQueue"
export * from "./stevedore.js"
