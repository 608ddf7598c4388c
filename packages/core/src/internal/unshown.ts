/**
 * The message of a Schema of what holds signed URLs: by itself an error of its decoder repeats what it is of, and that may be
 * all of it.
 *
 * @internal
 */
export const unshown = (): string => "what is no record is not shown"
