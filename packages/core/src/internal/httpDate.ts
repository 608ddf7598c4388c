/**
 * The time of an HTTP date in milliseconds, NaN where it cannot be read. The form of asctime names no zone, and JavaScript
 * would take it for the local one; in HTTP it is GMT.
 *
 * @internal
 */
export const httpDate = (text = ""): number =>
  Date.parse(/^\w{3} \w{3} [\d ]\d \d\d:\d\d:\d\d \d{4}$/.test(text) ? `${text} GMT` : text)
