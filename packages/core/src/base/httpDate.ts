// Years have four digits in HTTP, and an offset from a later one leads to times that no Date can hold
const yearTenThousand = Date.UTC(10_000)

/**
 * The time of an HTTP date in milliseconds, if it can be parsed. The asctime format names no time zone, so
 * JavaScript would read it as local time; in HTTP it is GMT.
 */
export const httpDate = (text = ""): number | undefined => {
  const time = Date.parse(/^\w{3} \w{3} [\d ]\d \d\d:\d\d:\d\d \d{4}$/.test(text) ? `${text} GMT` : text)
  return time < yearTenThousand ? time : undefined
}
