// Small enough that on a thin line progress and stalls are seen by it: a whole read would look like a stall.
const least = 262_144

// Larger ones gain little, and with TLS each is in memory twice.
const most = 524_288

// Milliseconds. A piece that takes longer than the second would be noticed by whoever watches the progress.
const quick = 50
const slow = 200

/**
 * How large the pieces are in which bytes go to the kernel: small at first, larger as long as they are taken quickly.
 *
 * @internal
 */
export class WritePace {
  /** The smallest piece, but for the last one of some bytes. */
  static readonly least = least

  #size = least

  constructor(readonly now: () => number = () => performance.now()) {}

  /** The bytes in pieces. The next one is to be asked for when the one before has been taken: that tells the pace. */
  *pieces(bytes: Uint8Array): Generator<Uint8Array, void, undefined> {
    for (let offset = 0; offset < bytes.byteLength;) {
      const piece = bytes.subarray(offset, offset + this.#size)
      offset += piece.byteLength
      const begun = this.now()
      yield piece
      this.#adapt(this.now() - begun)
    }
  }

  #adapt(taken: number): void {
    if (taken > slow) this.#size = least
    else if (taken < quick) this.#size = Math.min(most, this.#size * 2)
  }
}
