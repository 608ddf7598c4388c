/** Checksums in native code, several times as fast as in JavaScript. */
import * as Checksum from "@stevedore/core/Checksum"
import type { SourceError } from "@stevedore/core/SourceError"
import type { RepeatableSource } from "@stevedore/core/UploadSource"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { createHash } from "node:crypto"
import * as FastCrc32 from "./file/crc.js"
import { crc32c } from "./file/crc.js"

/**
 * CRC-32 in native code: by `@node-rs/crc32`, which npm installs with this package if there is a build for the platform
 * (0.06 CPU seconds per GiB on a machine where zlib takes 0.33), and otherwise by Node's zlib. Bundling an application
 * leaves that package out; if it cannot be loaded, zlib does the work. `NodeStevedore.layer` uses this algorithm in
 * place of the one in JavaScript.
 *
 * @category algorithms
 */
export const crc32: Checksum.ChecksumAlgorithm = Checksum.crc32With(FastCrc32.update)

const hashed = (name: string): Checksum.ChecksumAlgorithm => ({
  name,
  begin: () => {
    const hash = createHash(name)
    return {
      update: (chunk) => {
        hash.update(chunk)
      },
      value: () => hash.copy().digest("base64")
    }
  }
})

/**
 * SHA-256 by OpenSSL: 4.4 CPU seconds per GiB on a machine where CRC-32 by zlib takes 0.33, and a tenth of that on a
 * machine with instructions for it. SHA-256 values cannot be combined: a file of several parts has no checksum as a
 * whole.
 *
 * @example
 * import { Checksum } from "@stevedore/core"
 * import { NodeChecksum, NodeStevedore } from "@stevedore/node"
 * import { Layer } from "effect"
 *
 * const strong = NodeStevedore.layerConfig().pipe(Layer.provide(Checksum.layer(NodeChecksum.sha256)))
 *
 * @category algorithms
 */
export const sha256: Checksum.ChecksumAlgorithm = /* #__PURE__ */ hashed("sha256")

const available = [crc32, crc32c, Checksum.crc64nvme, hashed("md5"), hashed("sha1"), sha256]

/**
 * The algorithm of a checksum, by the name that storage uses for it: `crc32`, `crc32c`, `crc64nvme`, `md5`, `sha1`,
 * `sha256`, or the name of the algorithm in force. None for any other name.
 *
 * @category algorithms
 */
export const named = (name: string): Effect.Effect<Option.Option<Checksum.ChecksumAlgorithm>> =>
  Effect.map(
    Checksum.Algorithm,
    (inForce) => Option.fromNullable([...available, inForce].find((algorithm) => algorithm.name === name))
  )

/**
 * Whether a source has the content of a checksum, by reading it. False for an algorithm that is not known here.
 *
 * @internal
 */
export const isOf = (
  { algorithm: name, value }: Checksum.Checksum,
  source: RepeatableSource
): Effect.Effect<boolean, SourceError> =>
  Effect.gen(function*() {
    const algorithm = yield* named(name)
    if (Option.isNone(algorithm)) return false
    const running = algorithm.value.begin()
    const opened = yield* source.open
    yield* opened.readThrough({ offset: 0, length: source.size }, (chunk) => running.update(chunk))
    yield* opened.unchanged
    return running.value() === value
  }).pipe(Effect.scoped)

/**
 * The references of {@link layerInForce}.
 *
 * @internal
 */
export const inForce: Effect.Effect<Context.Context<never>> = Effect.zipWith(
  Checksum.Algorithm,
  Checksum.Known,
  (algorithm, known) => {
    const native = algorithm.whileSending === false ? { ...crc32, whileSending: false } : crc32
    return Context.make(Checksum.Algorithm, algorithm.begin === Checksum.crc32.begin ? native : algorithm).pipe(
      Context.add(Checksum.Known, [...known, ...available])
    )
  }
)

/**
 * The algorithm in force when the layer is built, with the native CRC-32 in place of the one in JavaScript.
 *
 * @category layers
 */
export const layerInForce: Layer.Layer<never> = Layer.effectContext(inForce)
