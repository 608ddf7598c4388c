/**
 * What an adapter of storage is made of: whoever writes an `ObjectStorage` of his own finds here how an answer is read.
 *
 * @since 0.1.0
 */

/**
 * An answer of storage, and the document in it that says what is wrong.
 *
 * @since 0.1.0
 * @category models
 */
export * as StorageAnswer from "./storage/answer.js"

/**
 * What a request to storage and its failures have in common, whatever carries it.
 *
 * @since 0.1.0
 * @category attempts
 */
export * as StorageAttempt from "./storage/attempt.js"

/**
 * What an answer of storage means.
 *
 * @since 0.1.0
 * @category attempts
 */
export * as StorageResponse from "./storage/response.js"

/**
 * The range that a request asks for, and the one that its answer holds.
 *
 * @since 0.1.0
 * @category ranges
 */
export * as RangedContent from "./storage/range.js"
