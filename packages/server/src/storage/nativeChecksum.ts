/** The checksum of what is stored in files, by what Node has built in. Apart from other stores, since a page has none of it. */
import * as Checksum from "@stevedore/core/Checksum"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Zlib from "node:zlib"

/** CRC-32. */
export const crc32: Checksum.ChecksumAlgorithm = Checksum.crc32With((crc, bytes) => Zlib.crc32(bytes, crc))

/** A value of it, as it is kept in a column. */
export const valued = (value: string | null): Checksum.Checksum | undefined =>
  value === null ? undefined : { algorithm: crc32.name, value }

/** The value of bytes by an algorithm. `take` is run with the length of each chunk before the next one is read. */
export const valueOf = <E, R>(
  algorithm: Checksum.ChecksumAlgorithm,
  bytes: Stream.Stream<Uint8Array, E, R>,
  take: (bytes: number) => Effect.Effect<void> = () => Effect.void
): Effect.Effect<string, E, R> =>
  Effect.suspend(() => {
    const running = algorithm.begin()
    return Effect.map(
      Stream.runForEach(bytes, (chunk) => Effect.map(take(chunk.byteLength), () => running.update(chunk))),
      running.value
    )
  })
