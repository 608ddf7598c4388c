import { textHash } from "../base/text.js"

const longestMemory = 131_072

const growth = 2048

/**
 * The texts that a walk has had, its cursors or its pages, as hashes of 8 bytes: 10,000 pages take 80 KB. After 131,072 pages the oldest are
 * forgotten, so a walk takes at most 1 MB, and a cycle of fewer pages is always detected.
 */
export class UsedCursors {
  #hashes = new Float64Array(growth)
  #count = 0

  /** The bytes of memory in use. */
  get size(): number {
    return this.#hashes.byteLength
  }

  add(cursor: string): void {
    if (this.#count >= this.#hashes.length && this.#hashes.length < longestMemory) {
      const grown = new Float64Array(this.#hashes.length + growth)
      grown.set(this.#hashes)
      this.#hashes = grown
    }
    this.#hashes[this.#count % longestMemory] = textHash(cursor)
    this.#count++
  }

  // A linear search takes microseconds, before a request that takes milliseconds
  has(cursor: string): boolean {
    const place = this.#hashes.indexOf(textHash(cursor))
    return place >= 0 && place < this.#count
  }
}
