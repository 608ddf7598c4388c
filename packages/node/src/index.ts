/**
 * @since 0.1.0
 */
export * as FileSource from "./FileSource.js"

/**
 * @since 0.1.0
 */
export * as NodeStevedore from "./NodeStevedore.js"
