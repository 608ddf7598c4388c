import { assert, describe, it } from "@effect/vitest"
import { PresignedUrl } from "@stevedore/core"
import { Option } from "effect"
import { clockNote } from "../../src/internal/doctorClocks.js"

const signed = Option.getOrThrow(
  PresignedUrl.fromString("https://b.test/k?X-Amz-Date=20300101T000000Z&X-Amz-Expires=10800")
)

const unsigned = Option.getOrThrow(PresignedUrl.fromString("https://b.test/k?sig=1"))

const hour = 3_600_000

describe("clockNote", () => {
  it.each<readonly [what: string, signer: number | undefined, date: number | undefined, note: RegExp | undefined]>([
    ["all agree", 0, 2000, undefined],
    ["all agree, as far as they are known", undefined, 500, undefined],
    ["nothing else is known", undefined, undefined, undefined],
    ["the service's Date is ahead", 500, 5 * hour, /^The clock of the service's Date header is wrong by \+5h: .*runs the service/],
    ["the service's Date is behind", 500, -5 * hour, /^The clock of the service's Date header is wrong by -5h/],
    ["the signer is ahead", hour, 0, /^The clock that signs the URLs is wrong by \+1h: .*runs the service/],
    ["this machine is behind", 2 * hour, 2 * hour, /^This machine's clock is wrong by -2h: .*Correct it/],
    ["two differ, and there is no third", undefined, hour, /^The clocks differ: .*\+1h here/],
    ["each differs", hour, 3 * hour, /^The clocks differ/]
  ])("where %s", (_, signer, dateOffset, note) => {
    const text = clockNote({ url: signer === undefined ? unsigned : signed, clockOffset: signer ?? 0, dateOffset })
    if (note === undefined) assert.isUndefined(text)
    else assert.match(text ?? "", note)
  })
})
