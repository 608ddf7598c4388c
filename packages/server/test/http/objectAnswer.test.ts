import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import * as ObjectAnswer from "../../src/http/objectAnswer.js"
import { make } from "../../src/ObjectStore.js"
import { memory } from "../../src/parts/blobStore.js"
import { EXPOSED } from "../../src/parts/storageCors.js"
import { valued } from "../../src/storage/nativeChecksum.js"

const modified = Date.parse("Sun, 06 Nov 1994 08:49:37 GMT")

const object = { key: "k", size: 10, etag: "\"a,b\"", contentType: undefined, lastModified: modified + 400 }

const at = "Sun, 06 Nov 1994 08:49:37 GMT"
const before = "Sun, 06 Nov 1994 08:49:36 GMT"
const none = "\"none\""

const status = (headers: Readonly<Record<string, string>>) =>
  Either.match(ObjectAnswer.make(headers, object, make(memory)), {
    onLeft: ({ status }) => status,
    onRight: ({ status }) => status
  })

describe("the checksum of a whole", () => {
  it("is in a header that pages may read", () => {
    const names = Object.keys(ObjectAnswer.checksumHeader(valued("NhCmhg==")))
    assert.deepStrictEqual(names.filter((name) => EXPOSED.includes(name)), ["x-amz-checksum-crc32"])
  })
})

describe("a read under conditions", () => {
  it.each<[Readonly<Record<string, string>>, number]>([
    [{ "if-match": `${none}, "a,b"` }, 200],
    [{ "if-match": none }, 412],
    // a weak etag is no proof of the same bytes
    [{ "if-match": "W/\"a,b\"" }, 412],
    [{ "if-match": "*" }, 200],
    [{ "if-none-match": `${none},"a,b"` }, 304],
    [{ "if-none-match": `${none} , W/"a,b"` }, 304],
    [{ "if-none-match": "*" }, 304],
    [{ "if-none-match": none }, 200],
    [{ "if-modified-since": at }, 304],
    [{ "if-modified-since": "Sunday, 06-Nov-94 08:49:37 GMT" }, 304],
    [{ "if-modified-since": "Sun Nov  6 08:49:37 1994" }, 304],
    [{ "if-modified-since": before }, 200],
    [{ "if-modified-since": "yesterday" }, 200],
    [{ "if-unmodified-since": at }, 200],
    [{ "if-unmodified-since": before }, 412],
    [{ "if-unmodified-since": "yesterday" }, 200],
    // a date counts only where there is no list
    [{ "if-none-match": none, "if-modified-since": at }, 200],
    [{ "if-match": "\"a,b\"", "if-unmodified-since": before }, 200],
    [{ range: "bytes=0-1", "if-range": "\"a,b\"" }, 206],
    [{ range: "bytes=0-1", "if-range": at }, 206],
    [{ range: "bytes=0-1", "if-range": before }, 200],
    [{ range: "bytes=0-1", "if-range": "W/\"a,b\"" }, 200]
  ])("%j is answered with %d", (headers, expected) => assert.strictEqual(status(headers), expected))
})
