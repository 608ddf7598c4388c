/** Where `@effect/sql` keeps the queue of chunks. */
export const queueTable = "bulk_queue"
