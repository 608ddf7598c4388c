/** The queue of the jobs that are pinned to a machine. */
export const hostQueue = (host: string): string => `host:${host}`
