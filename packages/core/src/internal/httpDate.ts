/**
 * The time of an HTTP date in milliseconds; NaN if it cannot be parsed. The asctime format names no time zone, so
 * JavaScript would read it as local time; in HTTP it is GMT.
 *
 * @internal
 */
export const httpDate = (text = ""): number =>
  Date.parse(/^\w{3} \w{3} [\d ]\d \d\d:\d\d:\d\d \d{4}$/.test(text) ? `${text} GMT` : text)
