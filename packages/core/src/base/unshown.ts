/**
 * The message for Schemas of values with signed URLs: by default, the error of their decoder repeats the value,
 * possibly all of it.
 */
export const unshown = (): string => "an invalid record is not shown"

export const hidden = () => ({ message: unshown(), override: true })
