interface Block {
  readonly bytes: Buffer
  filled: number
  /** How many pieces of it are to be taken, or are in use. */
  wanted: number
}

interface Piece {
  readonly block: Block
  readonly start: number
  end: number
}

// A record of TLS. With less room than that it is better to go on in another block.
const leastRoom = 16_384

/**
 * Memory for what a socket reads, used again and again: the kernel writes into one block while what is in the others
 * is on its way to wherever it is wanted. Pieces that lie side by side are taken as one, so that a slow taker gets
 * large ones.
 *
 * @internal
 */
export class ReceiveBuffers {
  #blocks: ReadonlyArray<Block>
  #current: Block
  #queue: Array<Piece> = []
  #taken: Piece | undefined

  constructor(count: number, size: number) {
    this.#current = blockOf(size)
    this.#blocks = [this.#current, ...blocksOf(count - 1, size)]
  }

  /** Other blocks from the next one on. What is in those before stays valid until it is given back. */
  resize(count: number, size: number): void {
    if (this.#blocks[0]?.bytes.byteLength !== size) this.#blocks = blocksOf(count, size)
  }

  /** Where the next read goes. */
  get room(): Buffer {
    return this.#current.bytes.subarray(this.#current.filled)
  }

  /** What was read, by its length. */
  read(length: number): Buffer {
    const start = this.#current.filled
    this.#current.filled += length
    return this.#current.bytes.subarray(start, start + length)
  }

  /** Holds some of what was read last until it is taken and given back. */
  hold(bytes: Uint8Array): void {
    const block = this.#current
    const start = bytes.byteOffset - block.bytes.byteOffset
    const last = this.#queue.at(-1)
    if (last?.block === block && last.end === start) last.end += bytes.byteLength
    else {
      block.wanted++
      this.#queue.push({ block, start, end: start + bytes.byteLength })
    }
  }

  /** Makes room for the next read; false when there is none for the one after it. */
  advance(): boolean {
    if (this.#current.bytes.byteLength - this.#current.filled >= leastRoom) return true
    if (this.#current.wanted > 0 || !this.#blocks.includes(this.#current)) {
      // TLS hands over what it has decrypted though it was told to stop: there is always room for that.
      this.#current = this.#blocks.find(this.#isFree) ?? blockOf(this.#current.bytes.byteLength)
    }
    this.#current.filled = 0
    return this.hasFree
  }

  /** Whether there is a block beside the one that is read into. */
  get hasFree(): boolean {
    return this.#blocks.some(this.#isFree)
  }

  get isEmpty(): boolean {
    return this.#queue.length === 0
  }

  /** The next bytes, to be used until the next are taken. */
  take(): Buffer | undefined {
    this.giveBack()
    this.#taken = this.#queue.shift()
    return this.#taken?.block.bytes.subarray(this.#taken.start, this.#taken.end)
  }

  giveBack(): void {
    if (this.#taken !== undefined) this.#taken.block.wanted--
    this.#taken = undefined
  }

  /** Nothing of what was read is wanted any more. */
  clear(): void {
    this.giveBack()
    for (const { block } of this.#queue) block.wanted--
    this.#queue = []
  }

  readonly #isFree = (block: Block): boolean => block !== this.#current && block.wanted === 0
}

const blockOf = (size: number): Block => ({ bytes: Buffer.allocUnsafeSlow(size), filled: 0, wanted: 0 })

const blocksOf = (count: number, size: number): ReadonlyArray<Block> =>
  Array.from({ length: count }, () => blockOf(size))
