/** The list behind the faulty server, without any wire form: which page follows a cursor, under which fault. */
import type { Fault } from "./Fault.js"

export const itemCount = 500

export const pageSize = 100

/** A cursor is the id of the item before the page, as the services with cursors of that kind have it. */
export interface ListPage {
  readonly ids: ReadonlyArray<string>
  readonly next: string | undefined
  readonly hasMore: boolean
}

/** The cursor of the page that the faults are about: the third. */
export const faultyCursor = "item_0200"

export const idOf = (number: number): string => `item_${String(number).padStart(4, "0")}`

const positionAfter = (cursor: string | undefined): number => cursor === undefined ? 0 : Number(cursor.slice(5, 9))

const behind = (cursor: string | undefined, size: number): ListPage => {
  const first = positionAfter(cursor) + 1
  const last = Math.min(itemCount, first + size - 1)
  const hasMore = last < itemCount
  return {
    ids: Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => idOf(first + index)),
    next: hasMore ? idOf(last) : undefined,
    hasMore
  }
}

const emptied = `${faultyCursor}.empty`

export const pageAfter = (fault: Fault, cursor: string | undefined): ListPage => {
  switch (fault) {
    case "emptyPage":
      return cursor === faultyCursor ? { ids: [], next: emptied, hasMore: true } : behind(cursor, pageSize)
    case "cursorRepeated":
      // the page behind this cursor comes again and again, and with it the cursor to it
      return cursor === idOf(300) ? behind(faultyCursor, pageSize) : behind(cursor, pageSize)
    case "moreWithoutCursor":
      return cursor === faultyCursor
        ? { ...behind(cursor, pageSize), next: undefined }
        : behind(cursor, pageSize)
    case "shortPages":
      return behind(cursor, pageSize / 2)
    default:
      return behind(cursor, pageSize)
  }
}
