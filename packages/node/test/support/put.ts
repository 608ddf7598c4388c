import { ObjectStorage, PresignedUrl, type UploadSource } from "@stevedore/core"
import type { ByteRange } from "@stevedore/core/UploadPlan"
import { Effect, Option } from "effect"

export const url = (href: string) => Option.getOrThrow(PresignedUrl.fromString(href))

/** One PUT of a range of an open source. */
export const put = (
  href: string,
  options: {
    readonly source: UploadSource
    readonly range?: ByteRange
    readonly headers?: Readonly<Record<string, string>>
    readonly onSent?: (bytes: number) => void
  }
) =>
  Effect.scoped(Effect.gen(function*() {
    const storage = yield* ObjectStorage.ObjectStorage
    const open = yield* options.source.open
    const section = yield* open.section(options.range ?? { offset: 0, length: options.source.size })
    return yield* storage.put({
      url: url(href),
      section,
      name: options.source.name,
      headers: options.headers ?? {},
      clockOffset: 0,
      attempt: 1,
      onSent: options.onSent ?? (() => undefined)
    })
  }))
