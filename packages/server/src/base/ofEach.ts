/** Makes what a label's value has once: there are few values, and finding a metric anew takes longer than counting. */
export const ofEach = <M>(make: (value: string) => M): (value: string) => M => {
  const made = new Map<string, M>()
  return (value) => {
    const one = made.get(value) ?? make(value)
    made.set(value, one)
    return one
  }
}
