import * as Option from "effect/Option"

/** @internal */
export const validDate = (date: Date): Option.Option<Date> =>
  Number.isNaN(date.getTime()) ? Option.none() : Option.some(date)
