import type { Receipts } from "@stevedore/core/UploadLedger"
import type { UploadRecord } from "@stevedore/core/UploadLedger"
import { PartReceipt } from "@stevedore/core/UploadSession"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import * as Schema from "effect/Schema"
import { messageOf } from "../file/platformError.js"
import type * as PrivateStore from "./privateStore.js"
import * as WarnOnce from "./warnOnce.js"

const Line = Schema.parseJson(PartReceipt)

const encode = Schema.encode(Line)

const decode = Schema.decodeOption(Line)

const byPart = Order.mapInput(Order.number, ({ partNumber }: PartReceipt) => partNumber)

// Includes the session's own file id, so receipts of one session can never be taken for another's. All up to the last
// slash is the prefix, which they share with the record.
const keyOf = ({ id, session }: UploadRecord): string => `${id}/${session.fileId.replaceAll("/", "\\")}`

/**
 * The receipts of a session as lines of one file. A separate file for each would have to be created and moved into
 * place, which costs more than the transfer of a small part.
 */
export const make = (
  store: Pick<ReturnType<typeof PrivateStore.make>, "append" | "lines" | "removeLines">
): Receipts => {
  const warn = WarnOnce.make()
  return {
    add: (record, receipt) => Effect.flatMap(encode(receipt), (line) => store.append(keyOf(record), line)),
    all: (record) =>
      store.lines(keyOf(record)).pipe(
        Effect.map((lines) => {
          const receipts = Arr.filterMap(lines, (line) => decode(line))
          const last = new Map(receipts.map((receipt) => [receipt.partNumber, receipt]))
          return Arr.sort([...last.values()].filter(({ partNumber }) => partNumber <= record.session.parts), byPart)
        }),
        Effect.catchAll((error) =>
          Effect.as(warn(`Which parts storage has could not be read: ${messageOf(error)}. They are sent again`), [])
        )
      ),
    remove: (record) => store.removeLines(keyOf(record))
  }
}
