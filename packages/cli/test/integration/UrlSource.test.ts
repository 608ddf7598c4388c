import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { invoke, jsonLines, Sandbox, sandbox } from "./invoke.js"
import { listening } from "./listening.js"

const web = (answer: (request: IncomingMessage, response: ServerResponse) => void) =>
  Effect.gen(function*() {
    const requests: Array<IncomingMessage> = []
    const origin = yield* listening((request, response) => {
      requests.push(request)
      answer(request, response)
    })
    return { origin, requests }
  })

const bytesOf = (length: number) => Buffer.from(Uint8Array.from({ length }, (_, index) => (index * 7919) % 251))

const content = bytesOf(1_200_000)

/** Answers with ranges and a strong etag, as object storage does. */
const ranged = (tag = "\"v1\"", bytes = content) => ({ headers }: IncomingMessage, response: ServerResponse) => {
  const [, start = "0", end = ""] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? "") ?? []
  if (headers["if-match"] !== undefined && headers["if-match"] !== tag) {
    response.writeHead(412).end()
    return
  }
  const body = bytes.subarray(Number(start), Number(end) + 1)
  response.writeHead(206, {
    etag: tag,
    "content-type": "audio/wav",
    "content-length": body.length,
    "content-range": `bytes ${start}-${Number(start) + body.length - 1}/${bytes.length}`
  }).end(body)
}

layer(Layer.merge(sandbox(), NodeContext.layer), { excludeTestServices: true })("rows that are URLs", (it) => {
  const upload = (rows: ReadonlyArray<string>, words: ReadonlyArray<string> = [], state?: string) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { env } = yield* Sandbox
      const folder = state ?? (yield* fs.makeTempDirectoryScoped())
      yield* fs.writeFileString(`${folder}/rows.jsonl`, rows.map((url) => JSON.stringify({ url })).join("\n"))
      yield* fs.writeFileString(`${folder}/headers`, "# of the archive\nAuthorization: Bearer very-secret\n")
      const ended = yield* invoke(
        ["upload", "--files-from", `${folder}/rows.jsonl`, "--source-headers", `${folder}/headers`, "--json", ...words],
        { ...env, XDG_STATE_HOME: folder }
      )
      const lines = jsonLines(ended.stdout).map((line) => Object(line))
      const back = (id: string) =>
        Effect.zipRight(
          invoke(["download", id, "-o", `${folder}/${id}`], env),
          Effect.map(fs.readFile(`${folder}/${id}`), (bytes) => Buffer.from(bytes))
        )
      return {
        ...ended,
        back,
        summary: lines.find(({ type }) => type === "summary"),
        completed: lines.filter(({ type }) => type === "completed"),
        failed: lines.filter(({ type }) => type === "failed")
      }
    })

  it.scoped("are read by ranges of the same file, with the headers, and described by the server", () =>
    Effect.gen(function*() {
      const { origin, requests } = yield* web(ranged())
      const { back, completed, stderr, stdout } = yield* upload([
        `${origin}/rec/in%20a.wav?X-Amz-Signature=very-secret`
      ])
      assert.deepStrictEqual(completed.map(({ file, path }) => [file.name, file.type, path]), [
        ["in a.wav", "audio/wav", `${origin}/rec/in%20a.wav`]
      ])
      assert.isTrue((yield* back(completed[0].file.id)).equals(content))
      const [first, ...others] = requests
      assert.strictEqual(first?.headers.range, "bytes=0-0")
      assert.isAbove(others.filter(({ headers }) => headers["if-match"] === "\"v1\"").length, 0)
      assert.isTrue(requests.every(({ headers }) => headers.authorization === "Bearer very-secret"))
      assert.notInclude(stdout + stderr, "very-secret")
    }))

  it.scoped("never send the headers to another origin", () =>
    Effect.gen(function*() {
      const store = yield* web(ranged())
      const { origin, requests } = yield* web((_, response) => {
        response.writeHead(302, { location: `${store.origin}/signed` }).end()
      })
      const { completed } = yield* upload([`${origin}/a.wav`])
      assert.lengthOf(completed, 1)
      assert.isTrue(requests.every(({ headers }) => headers.authorization !== undefined))
      assert.isAbove(store.requests.length, 1)
      assert.isTrue(store.requests.every(({ headers }) => headers.authorization === undefined))
    }))

  it.scoped("are read once if the server has no ranges, which is said", () =>
    Effect.gen(function*() {
      const { origin } = yield* web((_, response) => {
        response.writeHead(200, { "content-length": content.length }).end(content)
      })
      const { back, completed, stderr } = yield* upload([`${origin}/a.bin`])
      assert.isTrue((yield* back(completed[0].file.id)).equals(content))
      assert.include(stderr, `${origin}/a.bin is read once`)
    }))

  it.scoped("fail as changed if the file becomes another", () =>
    Effect.gen(function*() {
      let asked = 0
      const { origin } = yield* web((request, response) => {
        asked += 1
        ranged(asked > 1 ? "\"v2\"" : "\"v1\"")(request, response)
      })
      const { code, failed } = yield* upload([`${origin}/a.wav`])
      assert.strictEqual(code, 1)
      assert.deepStrictEqual(failed.map(({ error }) => error._tag), ["SourceChanged"])
    }))

  it.scoped("continue where a connection broke off", () =>
    Effect.gen(function*() {
      let asked = 0
      const { origin } = yield* web((request, response) => {
        asked += 1
        if (asked !== 2) {
          ranged()(request, response)
          return
        }
        const { length } = content
        response.writeHead(206, {
          etag: "\"v1\"",
          "content-length": length,
          "content-range": `bytes 0-${length - 1}/${length}`
        })
        response.write(content.subarray(0, 100_000), () => response.destroy())
      })
      const { back, completed } = yield* upload([`${origin}/a.wav`])
      assert.isTrue((yield* back(completed[0].file.id)).equals(content))
    }))

  it.scoped("resume with the parts that are missing, and are not uploaded again", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const state = yield* fs.makeTempDirectoryScoped()
      const bytes = bytesOf(11_000_000)
      let isWhole = false
      const { origin } = yield* web((request, response) => {
        if (isWhole || /^bytes=0-/.test(request.headers.range ?? "")) ranged("\"v1\"", bytes)(request, response)
        else response.writeHead(404).end()
      })
      const words = ["--strategy", "multipart", "--parts", "2", "--concurrency", "1"]
      const first = yield* upload([`${origin}/a.wav`], words, state)
      assert.strictEqual(first.code, 1)
      isWhole = true
      const second = yield* upload([`${origin}/a.wav`], words, state)
      assert.strictEqual(second.code, 0, second.stderr)
      assert.deepStrictEqual([second.summary.bytesResumed, second.summary.bytesSent], [5_500_000, 5_500_000])
      assert.isTrue((yield* second.back(second.completed[0].file.id)).equals(bytes))
      const third = yield* upload([`${origin}/a.wav`], words, state)
      assert.deepStrictEqual([third.code, third.completed.length, third.summary.skipped.uploaded], [0, 0, 1])
    }))

  it.scoped("fail alone if the server refuses them", () =>
    Effect.gen(function*() {
      const { origin } = yield* web((request, response) => {
        if (request.url === "/a.wav") ranged()(request, response)
        else response.writeHead(404).end()
      })
      const { code, completed, failed } = yield* upload([`${origin}/a.wav`, `${origin}/b.wav?token=very-secret`])
      assert.deepStrictEqual([code, completed.length], [1, 1])
      assert.deepStrictEqual(failed.map(({ error, path }) => [path, error._tag]), [[`${origin}/b.wav`, "UrlRefused"]])
    }))

  it.scoped("are refused as arguments, with a user, and of several servers with headers for one", () =>
    Effect.gen(function*() {
      const { env } = yield* Sandbox
      const argument = yield* invoke(["upload", "https://a.example/b?token=very-secret"], env)
      assert.deepStrictEqual(argument.code, 2)
      assert.match(argument.stderr, /^https:\/\/a\.example\/b: a URL is not an argument.*--files-from\n$/)
      const withUser = yield* upload(["https://me:very-secret@a.example/b"])
      assert.match(withUser.stderr, /has a user in it/)
      const several = yield* upload(["https://a.example/b", "https://b.example/b"])
      assert.match(several.stderr, /the rows are of 2 servers/)
      const clear = yield* upload(["http://a.example/b"])
      assert.match(clear.stderr, /is not encrypted/)
      assert.notInclude(withUser.stderr + several.stderr + clear.stderr, "very-secret")
    }))
})
