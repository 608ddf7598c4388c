/** The result of an upload. */
import * as Schema from "effect/Schema"
import { openRecord } from "./base/effect.js"
import { Checksum } from "./Checksum.js"
import { FileRecord } from "./FileRecord.js"

/**
 * How it is known that storage holds what was read: compared with what storage or the service reported of each part or
 * of the whole (`stored`), read back and compared (`readBack`), or not at all (`unproven`), because neither reported a
 * checksum that could be compared.
 *
 * @category models
 */
export const Proof = /* #__PURE__ */ Schema.Literal("stored", "readBack", "unproven").annotations({
  identifier: "Proof"
})

/** @category models */
export type Proof = typeof Proof.Type

const { extra: _, ...fields } = FileRecord.to.fields

const ours = { ours: true }

/**
 * The record of an uploaded file, and what it took to upload it. Storage has confirmed every byte of the source; `sent.proof`
 * says how its content was proven. The id is the
 * one that the upload was opened with. Name, media type and size are those of the source where the service did not
 * report them. What else it reported is in `extra`, a field that it calls `sent` too. It can cross queues and journals as
 * JSON.
 *
 * @category models
 */
export const UploadedFile = openRecord("UploadedFile", {
  ...fields,
  name: Schema.String,
  /** As the service says; in bytes if it speaks of bytes. What storage has is in `sent`. */
  size: Schema.JsonNumber,
  sent: Schema.Struct({
    /** The source's size in bytes. */
    bytes: Schema.NonNegativeInt,
    /** The parts of the last session; 1 for a single PUT. */
    parts: Schema.NonNegativeInt,
    /** How many sessions it took. */
    sessions: Schema.NonNegativeInt,
    /** Of the whole file, combined from its parts; absent if it could not be computed. */
    checksum: Schema.UndefinedOr(Checksum),
    proof: Proof
  })
}, ours)

/** @category models */
export interface UploadedFile extends Schema.Schema.Type<typeof UploadedFile> {}
