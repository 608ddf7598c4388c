// Small enough to show progress and stalls on a slow connection: a whole read would look like a stall.
const least = 262_144

// Larger pieces gain little, and with TLS each is in memory twice.
const most = 524_288

// Milliseconds. A piece that takes longer than `slow` would be noticeable in the progress display.
const quick = 50
const slow = 200

/**
 * The sizes of the pieces in which bytes go to the kernel: small at first, larger as long as they are accepted quickly.
 */
export class WritePace {
  /** The smallest piece, except for the remainder at the end. */
  static readonly least = least

  #size = least

  constructor(readonly now: () => number = () => performance.now()) {}

  /**
   * The bytes in pieces, none longer than `most` says. Request the next one only when the previous one has been accepted:
   * that is how the pace is measured.
   */
  *pieces(bytes: Uint8Array, most: () => number = () => Infinity): Generator<Uint8Array, void, undefined> {
    for (let offset = 0; offset < bytes.byteLength;) {
      const piece = bytes.subarray(offset, offset + Math.min(this.#size, most()))
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
