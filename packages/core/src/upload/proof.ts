/** What is proven of the content of an upload. Nothing else decides it. */
import * as Option from "effect/Option"
import type { ChecksumAlgorithm } from "../Checksum.js"
import * as Checksum from "../Checksum.js"
import type { FileRecord } from "../FileRecord.js"
import { ChecksumMismatch } from "../StorageError.js"
import type { UploadedFile } from "../UploadedFile.js"
import type { PartReceipt } from "../UploadSession.js"

type Receipts = ReadonlyArray<PartReceipt>

// What is no value of the algorithm, such as a composite checksum or one in hexadecimal digits, says nothing
const reported = (algorithm: ChecksumAlgorithm, { checksum }: FileRecord): string | undefined =>
  checksum?.algorithm === algorithm.name && checksum.value.length === algorithm.begin().value().length
    ? checksum.value
    : undefined

/** The checksum of what was sent, from those of its parts, and how it is known that storage holds the same. */
export const provenBy = (
  algorithm: ChecksumAlgorithm,
  receipts: Receipts,
  file: FileRecord
): Pick<UploadedFile["sent"], "checksum" | "proof"> => {
  const checksum = Option.getOrUndefined(Checksum.combineAll(algorithm, receipts))
  const isStored = receipts.length > 0 && receipts.every(({ proven }) => proven === true)
  return {
    checksum,
    proof: isStored || (checksum !== undefined && checksum.value === reported(algorithm, file)) ? "stored" : "unproven"
  }
}

/** How the content that the service reports differs from what was sent; undefined if it does not, as far as is known. */
export const mismatch = (
  algorithm: ChecksumAlgorithm,
  receipts: Receipts,
  file: FileRecord
): ChecksumMismatch | undefined => {
  const stored = reported(algorithm, file)
  const sent = provenBy(algorithm, receipts, file).checksum?.value
  return stored === undefined || sent === undefined || stored === sent
    ? undefined
    : new ChecksumMismatch({ algorithm: algorithm.name, sent, stored, fileId: file.id, attempts: 1 })
}
