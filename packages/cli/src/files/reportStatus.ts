/** The status in a report of a file that was chosen, and not tried, or not to its end. */
export const notTried = "not-tried"

/** The status of the row, without a path, that says that every chosen file has a row. */
export const complete = "complete"
