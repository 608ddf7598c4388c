import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { json, serving } from "./plainService.js"

const inParts = ["--strategy", "multipart"]

describe("a Complete that is refused at its first attempt", () => {
  it.scopedLive.each<readonly [string, ReadonlyArray<string>, number]>([
    ["one PUT, whose record is pending", [], 404],
    ["parts, whose record is pending", inParts, 404],
    ["one PUT, whose content can be read", [], 200],
    ["parts, whose content can be read", inParts, 200]
  ])("is a failed upload: %s", ([_, words, content]) =>
    Effect.gen(function*() {
      const { asked, file, run } = yield* serving(({ path, response }) =>
        path.endsWith("/complete")
          ? json(response, 409, `{"errors":[{"code":"InvalidOperation","title":"Cancelled"}]}`)
          : path.endsWith("/download")
          ? json(response, content, "x")
          : false
      )
      const said = yield* run("upload", file, ...words)
      assert.strictEqual(said.code, 1)
      assert.notMatch(said.stdout + said.stderr, /uploaded|completed|f1\t/i)
      assert.match(said.stderr, /failed or was cancelled \(InvalidOperation: Cancelled/)
      const { code, stdout } = yield* run("upload", file, "--json", ...words)
      assert.strictEqual(code, 1)
      assert.match(stdout, /"type":"failed".*"_tag":"UploadConflict"/)
      assert.notMatch(stdout, /"type":"completed"/)
      assert.notInclude(asked, "GET /v1/files/f1")
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe("a 401 or 403 whose body is not the service's", () => {
  const page = "<!DOCTYPE html><html><head><title>Blocked</title></head><body>Denied by ACME Gateway</body></html>"
  it.scopedLive.each<readonly [number, string, number]>([
    [401, page, 3],
    [403, page, 1],
    [401, "Denied by ACME Gateway", 3],
    [403, "Denied by ACME Gateway", 1]
  ])("%d is called what it is, with a line of it, by every command", ([status, body, exit]) =>
    Effect.gen(function*() {
      const { file, run } = yield* serving(({ path, response }) => {
        if (path.startsWith("/put/")) return false
        response.writeHead(status, { "content-type": "text/html" }).end(body)
        return true
      })
      for (
        const words of [["upload", file], ["file", "f1"], ["projects"], ["download", "f1"], ["whoami"], ["doctor"]]
      ) {
        const { code, stderr, stdout } = yield* run(...words)
        assert.strictEqual(code, exit, words.join(" "))
        assert.match(stdout + stderr, /something in between/, words.join(" "))
        assert.match(stdout + stderr, /it says "(?:Blocked )?Denied by ACME Gateway"/, words.join(" "))
      }
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe("what came as a number", () => {
  it.scopedLive.each(["7", "9007199254740993", "\"7\""])(
    "upload_id %s is sent back as it came",
    (uploadId) =>
      Effect.gen(function*() {
        const told: Array<string> = []
        const { file, run } = yield* serving(({ body, path, request, response }) => {
          if (path.endsWith("/complete")) told.push(body)
          if (path !== "/v2/files/large-upload") return false
          const urls = `["http://${request.headers.host}/put/1?sig=b"]`
          return json(response, 201, `{"data":{"id":12,"upload_id":${uploadId},"urls":${urls}}}`)
        })
        const { code, stderr } = yield* run("upload", file, ...inParts)
        assert.strictEqual(code, 0, stderr)
        assert.lengthOf(told, 1)
        assert.include(told[0], `"upload_id":${uploadId},`)
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("stays as it came in every form of output, beside what is called like a field of ours", () =>
    Effect.gen(function*() {
      const big = `"legacy":9007199254740993,"amount":1e400,"list":[18446744073709551615],"sent":"yes","name":7`
      const { file, run } = yield* serving(({ path, response }) =>
        path.startsWith("/v1/projects")
          ? json(response, 200, `{"data":[{"id":"p1",${big}}],"page":{"total_count":1,"has_more":false}}`)
          : path.endsWith("/complete") || path.startsWith("/v1/files/")
          ? json(response, 200, `{"data":{"id":"f1",${big}}}`)
          : false
      )
      for (
        const words of [["file", "f1"], ["file", "f1", "--json"], ["projects", "--json"], ["upload", file, "--json"]]
      ) {
        const { code, stderr, stdout } = yield* run(...words)
        assert.strictEqual(code, 0, stderr)
        for (const number of ["9007199254740993", "1e400", "18446744073709551615"]) assert.include(stdout, number)
        assert.match(stdout, /sent\W+yes\b/, words.join(" "))
        assert.match(stdout, /name\W+7\b/, words.join(" "))
      }
    }).pipe(Effect.provide(NodeContext.layer)))
})
