import * as Option from "effect/Option"

/** A whole number from its digits, of which every one counts: 15 fit into a number. */
export const wholeNumber = (text = ""): Option.Option<number> =>
  /^\d{1,15}$/.test(text) ? Option.some(Number(text)) : Option.none()
