import * as Option from "effect/Option"

export const validDate = (date: Date): Option.Option<Date> =>
  Number.isNaN(date.getTime()) ? Option.none() : Option.some(date)
