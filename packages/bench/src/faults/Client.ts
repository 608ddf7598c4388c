/** A client under comparison: how a program walks a list with it. */

/** Items as they come, one or a page of them at a time: their ids. */
export type Batches = AsyncIterable<ReadonlyArray<string>>

/** One list as a program holds it: walked as often as the program likes. */
export interface Listing extends Batches {
  /**
   * How a program goes on after the walk has failed, where the client has a way of its own. Omitted: it asks the same
   * iterator for more.
   */
  readonly goOn?: () => Batches
}

export interface Client {
  /** With the defaults of the client, 100 items a page. */
  readonly open: (origin: string) => Promise<Listing>
  /** Whether an error is one that the client documents: it can be told from a defect. */
  readonly isOwnError: (error: unknown) => boolean
}

/** The ids of what an iterable gives. A generator in between would end with the first error; this does what it does. */
export const batches = <A>(items: AsyncIterable<A>, idsOf: (item: A) => ReadonlyArray<string>): Batches => ({
  [Symbol.asyncIterator]: () => {
    const iterator = items[Symbol.asyncIterator]()
    return {
      next: async () => {
        const step = await iterator.next()
        return step.done === true ? { done: true, value: undefined } : { done: false, value: idsOf(step.value) }
      }
    }
  }
})
