import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { HttpSource } from "@stevedore/node"
import { Effect, Redacted, Stream } from "effect"

interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const secret = "0123456789abcdefTOPSECRET"

const url = `https://archive.test/files/123/download?X-Amz-Signature=${secret}`

/** The server of a file, by the header Range of a request and how many came before it. */
const answering = (answer: (range: string | undefined, before: number) => Answer) => {
  let before = 0
  return HttpClient.make((request) =>
    Effect.sync(() => {
      const { body = "", headers = {}, status } = answer(request.headers["range"], before)
      before += 1
      return HttpClientResponse.fromWeb(request, new Response(body === "" ? null : body, { status, headers }))
    })
  )
}

const made = (answer: Parameters<typeof answering>[0], options: HttpSource.Options = {}) =>
  HttpSource.make(
    {
      url: Redacted.make(url),
      headers: Redacted.make({ authorization: "Bearer of-the-archive" })
    },
    options
  ).pipe(Effect.provideService(HttpClient.HttpClient, answering(answer)))

const read = (answer: Parameters<typeof answering>[0]) =>
  Effect.gen(function*() {
    const source = yield* made(answer)
    const opened = yield* source.open
    const section = yield* opened.section({ offset: 0, length: source.size })
    const body = yield* section.body(() => {})
    return body._tag === "StreamBody"
      ? yield* Stream.runCollect(body.stream)
      : body._tag === "BytesBody"
      ? [body.bytes]
      : assert.fail(body._tag)
  }).pipe(Effect.scoped, Effect.map((chunks) => Buffer.concat([...chunks]).toString()))

const content = "a whole file"

describe("HttpSource", () => {
  it.each<readonly [what: string, one: string, other: string, isSame: boolean]>([
    ["another id beside a token", "?id=1&token=t", "?id=2&token=t", false],
    ["another version beside a signature", "?versionId=1&X-Amz-Signature=s", "?versionId=2&X-Amz-Signature=s", false],
    ["another id beside a signature and its date", "?fileid=1&sig=a&se=2030", "?fileid=2&sig=a&se=2030", false],
    ["another name in upper case", "?ID=1&Access_Token=t", "?ID=2&Access_Token=t", false],
    ["what would be a companion, without a signature", "?se=1&policy=a", "?se=2&policy=a", false],
    ["another token", "?id=1&token=t", "?token=u&id=1", true],
    ["another signature of S3", "?X-Amz-Date=1&X-Amz-Signature=s&versionId=3", "?versionId=3&x-amz-signature=t", true],
    ["another signature of Azure", "?sv=1&se=2030&sp=r&sig=s", "?sv=2&se=2031&sp=r&sig=t", true],
    [
      "another signature of CloudFront",
      "?Expires=1&Signature=s&Key-Pair-Id=k",
      "?Expires=2&Signature=t&Policy=p",
      true
    ],
    ["another fragment", "?id=1#a", "?id=1#b", true]
  ])("tells the file of a URL with %s", (_, one, other, isSame) => {
    const [first, second] = [one, other].map((query) => HttpSource.shown(`https://archive.test/recording${query}`))
    assert.strictEqual(first === second, isSame)
    assert.match(`${first} ${second}`, /^https:\/\/archive\.test\/recording(\?[\da-f]{12})? https:\/\/\S+$/)
  })

  it.effect.each<readonly [what: string, header: string, name: string]>([
    ["in quotes", "attachment; filename=\"Interview 7.wav\"", "Interview 7.wav"],
    ["without quotes", "attachment;filename=a.wav;size=3", "a.wav"],
    [
      "encoded, before the plain one",
      "attachment; filename=\"_.wav\"; filename*=UTF-8''fu%CC%88r%20sp%C3%A4ter.wav",
      "für später.wav"
    ],
    ["encoded in Latin-1", "attachment; filename*=iso-8859-1'de'%E4.wav", "ä.wav"],
    ["with a quote in it", "attachment; filename=\"a\\\"b.wav\"", "a\"b.wav"],
    ["in bytes of UTF-8", `attachment; filename="${Buffer.from("ä.wav").toString("latin1")}"`, "ä.wav"],
    ["that is a path", "attachment; filename=\"../../etc/passwd\"", "passwd"],
    ["that is empty", "attachment; filename=\"\"", "download"],
    ["that is missing", "inline", "download"]
  ])("a name that the server says %s", ([, header, name]) =>
    Effect.gen(function*() {
      const server = () => ({
        status: 200,
        headers: { "content-length": `${content.length}`, "content-disposition": header },
        body: content
      })
      assert.strictEqual((yield* made(server)).name.normalize("NFC"), name)
      assert.strictEqual((yield* made(server, { name: "mine.wav" })).name, "mine.wav")
    }))

  it.effect.each<readonly [what: string, headers: Readonly<Record<string, string>>]>([
    ["without a total", { "content-range": "bytes 0-0/*" }],
    ["of an unknown form", { "content-range": "items 0-0/12" }],
    ["without Content-Range", {}]
  ])("a range %s is asked for again as a whole", ([, headers]) =>
    Effect.gen(function*() {
      const text = yield* read((range) =>
        range === undefined
          ? { status: 200, headers: { "content-length": `${content.length}` }, body: content }
          : { status: 206, headers, body: "a" }
      )
      assert.strictEqual(text, content)
    }))

  it.effect("a file without bytes has none, whether its server refuses the range or answers with all of it", () =>
    Effect.gen(function*() {
      const refusing = yield* made(() => ({ status: 416, headers: { "content-range": "bytes */0" } }))
      const whole = yield* made(() => ({ status: 200, headers: { "content-length": "0" } }))
      assert.deepStrictEqual([refusing.size, whole.size], [0, 0])
    }))

  const expired = "<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"
  const quoting = `{"error":"no such signature: ${secret}, Authorization Bearer of-the-archive"}`

  it.effect.each<readonly [status: number, body: string, said: string]>([
    [403, expired, "the server answers 403: Request has expired"],
    [401, "", "the server answers 401"],
    [404, "no such file", "the server answers 404: no such file"],
    [410, "<html><body>Gone</body></html>", "the server answers 410: Gone"],
    [403, quoting, "the server answers 403"]
  ])(
    "a server that refuses with %d has its status and words in the error, at once and on the way",
    ([status, body, said]) =>
      Effect.gen(function*() {
        const ranged = { etag: "\"1\"", "content-range": "bytes 0-0/12" }
        const refused = yield* Effect.flip(read(() => ({ status, body })))
        const byRanges = yield* Effect.flip(
          read((_, before) => before === 0 ? { status: 206, headers: ranged, body: "a" } : { status, body })
        )
        const fromTheFront = yield* Effect.flip(
          read((_, before) =>
            before === 0 ? { status: 200, headers: { "content-length": "12" }, body: content } : { status, body }
          )
        )
        assert.deepStrictEqual([refused, byRanges, fromTheFront].map(({ _tag }) => _tag), [
          "UrlRefused",
          "SourceUnreadable",
          "SourceUnreadable"
        ])
        for (const error of [refused, byRanges, fromTheFront]) {
          assert.include(error.message, said)
          assert.propertyVal(error, "status", status)
          assert.notMatch(JSON.stringify(error) + error.message, /TOPSECRET|of-the-archive/)
        }
      })
  )
})
