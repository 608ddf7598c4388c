interface Block {
  readonly bytes: Buffer
  filled: number
  /** How many pieces of it are queued or in use. */
  wanted: number
}

interface Piece {
  readonly block: Block
  readonly start: number
  end: number
}

// The size of a TLS record. With less room than this, reading continues in another block.
const leastRoom = 16_384

/**
 * Reused memory for reading from a socket: the kernel writes to one block while the contents of the others are being
 * consumed. Adjacent pieces are merged, so a slow consumer gets large ones.
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

  /**
   * Switches to blocks of another size, from the next one on. The contents of the previous blocks stay valid until they
   * are given back.
   */
  resize(count: number, size: number): void {
    if (this.#blocks[0]?.bytes.byteLength !== size) this.#blocks = blocksOf(count, size)
  }

  /** Where the next read goes. */
  get room(): Buffer {
    return this.#current.bytes.subarray(this.#current.filled)
  }

  /** The bytes of a read of this length. */
  read(length: number): Buffer {
    const start = this.#current.filled
    this.#current.filled += length
    return this.#current.bytes.subarray(start, start + length)
  }

  /** Keeps some of the bytes read last until they are taken and given back. */
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

  /** Makes room for the next read. Returns `false` if there is none for the one after it. */
  advance(): boolean {
    if (this.#current.bytes.byteLength - this.#current.filled >= leastRoom) return true
    if (this.#current.wanted > 0 || !this.#blocks.includes(this.#current)) {
      // TLS delivers what it has decrypted even when paused: there must always be room for that.
      this.#current = this.#blocks.find(this.#isFree) ?? blockOf(this.#current.bytes.byteLength)
    }
    this.#current.filled = 0
    return this.hasFree
  }

  /** Whether a block is free besides the one being read into. */
  get hasFree(): boolean {
    return this.#blocks.some(this.#isFree)
  }

  get isEmpty(): boolean {
    return this.#queue.length === 0
  }

  /** The next bytes, valid until the next call. */
  take(): Buffer | undefined {
    this.giveBack()
    this.#taken = this.#queue.shift()
    return this.#taken?.block.bytes.subarray(this.#taken.start, this.#taken.end)
  }

  giveBack(): void {
    if (this.#taken !== undefined) this.#taken.block.wanted--
    this.#taken = undefined
  }

  /** Discards everything that was read. */
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
