/**
 * A copy of an error with some fields changed: whoever gave it may give the same instance again, as a fake service does.
 */
export const changedError = <E extends object>(error: E, fields: Partial<E>): E =>
  Reflect.construct(error.constructor, [{ ...error, ...fields }])
