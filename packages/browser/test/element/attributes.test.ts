import { assert, describe, it } from "@effect/vitest"
import { Metadata } from "@stevedore/core"
import { vi } from "vitest"
import { read } from "../../src/element/attributes.js"

/** An element, as far as its attributes are read. */
const host = (attributes: Readonly<Record<string, string>>) => ({
  localName: "stevedore-upload",
  getAttribute: (name: string) => attributes[name] ?? null
})

const told = (attributes: Readonly<Record<string, string>>, isMetadata?: typeof Metadata.isValid) => {
  const console = vi.spyOn(globalThis.console, "error").mockImplementation(() => undefined)
  const attribute = read(host(attributes), isMetadata)
  const said = console.mock.calls.map(([words]) => words)
  console.mockRestore()
  return { ...attribute, said }
}

const sizes: Readonly<Record<string, number>> = {
  "0": 0,
  "500000": 500_000,
  "10MB": 10_000_000,
  "10 mb": 10_000_000,
  " 2 GB ": 2_000_000_000,
  "1.5k": 1500,
  "1KiB": 1024,
  "3 TB": 3_000_000_000_000,
  "12 B": 12
}

const wrong: Readonly<Record<string, ReadonlyArray<string>>> = {
  "max-size": ["10 megs", "large", "-1", "1e3", "1,5 MB", "MB", "Infinity", "NaN", "0x10"],
  "max-total": ["10 XB", "1.2.3"],
  "max-files": ["three", "-1", "1.5", "2 files"],
  files: ["many", "0.5"],
  accept: ["pdf", "image", "image/*,pdf", "*"],
  metadata: ["album 7", "[]", "7", "null", "{\"album\":7}"]
}

describe("the attributes of the element", () => {
  it("have sizes in bytes or in units", () => {
    for (const [text, size] of Object.entries(sizes)) {
      const { areWrong, limits, said } = told({ "max-size": text, "max-total": text })
      assert.deepStrictEqual([limits.size, limits.total, areWrong, said.length], [size, size, false, 0], text)
    }
  })

  it("have metadata within its bounds, where it is known what these are", () => {
    const metadata = "{\"an album\":\"7\"}"
    assert.isFalse(told({ metadata }).areWrong)
    const { areWrong, said } = told({ metadata }, Metadata.isValid)
    assert.isTrue(areWrong)
    assert.include(String(said[0]), metadata)
  })

  it("are what they say, or absent", () => {
    assert.deepInclude(told({}), { files: undefined, metadata: undefined, areWrong: false, said: [] })
    const { areWrong, files, limits, metadata } = told({
      accept: "image/*, .pdf,application/vnd.ms-excel,",
      files: "2",
      "max-files": "4",
      "max-size": "",
      metadata: "{\"album\":\"7\"}"
    })
    assert.deepStrictEqual([areWrong, files, limits.files, limits.size], [false, 2, 4, undefined])
    assert.deepStrictEqual(limits.accept, ["image/*", ".pdf", "application/vnd.ms-excel"])
    assert.deepStrictEqual(metadata, { album: "7" })
  })

  it("are wrong rather than absent where they cannot be read, and each is named once", () => {
    for (const [name, texts] of Object.entries(wrong)) {
      for (const text of texts) {
        const first = told({ [name]: text })
        assert.isTrue(first.areWrong, `${name}=${text}`)
        assert.lengthOf(first.said, 1)
        assert.include(first.said[0], `${name}="${text}"`)
        assert.deepInclude(told({ [name]: text }), { areWrong: true, said: [] })
      }
    }
  })
})
