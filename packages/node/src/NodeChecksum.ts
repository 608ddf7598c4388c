/**
 * Checksums by Node's own code, which is several times as fast as JavaScript's.
 *
 * @since 0.1.0
 */
import * as Checksum from "@stevedore/core/Checksum"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createHash } from "node:crypto"
import * as Zlib from "node:zlib"

/**
 * CRC-32 by zlib. `NodeStevedore.layer` has it in the place of the one in JavaScript.
 *
 * @since 0.1.0
 * @category algorithms
 */
export const crc32: Checksum.ChecksumAlgorithm = Checksum.crc32With((crc, chunk) => Zlib.crc32(chunk, crc))

/**
 * SHA-256 by OpenSSL. It cannot be combined: a file of several parts has no checksum as a whole.
 *
 * @example
 * import { Checksum } from "@stevedore/core"
 * import { NodeChecksum, NodeStevedore } from "@stevedore/node"
 * import { Layer } from "effect"
 *
 * const strong = NodeStevedore.layerConfig().pipe(Layer.provide(Checksum.layer(NodeChecksum.sha256)))
 *
 * @since 0.1.0
 * @category algorithms
 */
export const sha256: Checksum.ChecksumAlgorithm = {
  name: "sha256",
  begin: () => {
    const hash = createHash("sha256")
    return {
      update: (chunk) => {
        hash.update(chunk)
      },
      value: () => hash.copy().digest("base64")
    }
  }
}

/**
 * The algorithm in force where the layer is built, with CRC-32 by zlib in the place of the one in JavaScript.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerInForce: Layer.Layer<never> = Layer.effect(
  Checksum.Algorithm,
  Effect.map(Checksum.Algorithm, (algorithm) => algorithm === Checksum.crc32 ? crc32 : algorithm)
)
