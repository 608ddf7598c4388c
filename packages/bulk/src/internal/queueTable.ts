/** Where `@effect/sql` keeps the queue of chunks. */
export const queueTable = "bulk_queue"

/** The name of the queue of a job: each has its own, so that none waits behind the chunks of another. */
export const queueOf = (job: number): string => `${job}`
