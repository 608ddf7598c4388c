/** What is proven of the content of an upload. Nothing else decides it. */
import * as Option from "effect/Option"
import type { ChecksumAlgorithm } from "../Checksum.js"
import * as Checksum from "../Checksum.js"
import type { FileRecord } from "../FileRecord.js"
import { ChecksumMismatch } from "../StorageError.js"
import type { UploadedFile } from "../UploadedFile.js"
import type { PartReceipt } from "../UploadSession.js"

/** What is known of the content. */
interface Proven extends Pick<UploadedFile["sent"], "checksum" | "proof"> {
  /** That the service reports another content than was sent. */
  readonly mismatch: ChecksumMismatch | undefined
}

// what is no value of the algorithm, such as a composite checksum or one in hexadecimal digits, says nothing
const kindOf = (one: Checksum.Checksum | undefined) =>
  one && `${one.algorithm} ${one.value.length} ${one.value.endsWith("=")}`

/** The checksum of what was sent, from those of its parts, and how it is known that storage holds the same. */
export const provenBy = (
  algorithm: ChecksumAlgorithm,
  receipts: ReadonlyArray<PartReceipt>,
  { checksum: told, id }: FileRecord
): Proven => {
  const checksum = Option.getOrUndefined(Checksum.combineAll(algorithm, receipts))
  const stored = kindOf(told) === kindOf(checksum) ? told?.value : undefined
  const isStored = stored || (receipts.length > 0 && receipts.every(({ proven }) => proven))
  return {
    checksum,
    proof: isStored ? "stored" : "unproven",
    mismatch: checksum && stored && stored !== checksum.value
      ? new ChecksumMismatch({ algorithm: checksum.algorithm, sent: checksum.value, stored, fileId: id, attempts: 1 })
      : undefined
  }
}
