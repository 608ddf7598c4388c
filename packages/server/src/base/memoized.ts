/** Makes the metric of each value of a label once. There are few values, and to find a metric takes longer than to count. */
export const memoized = <M>(make: (value: string) => M): (value: string) => M => {
  const known = new Map<string, M>()
  return (value) => {
    const one = known.get(value) ?? make(value)
    known.set(value, one)
    return one
  }
}
