import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import * as DoctorReport from "@stevedore/cli/DoctorReport"
import * as SandboxServer from "@stevedore/cli/SandboxServer"
import { ServiceVariation } from "@stevedore/testing"
import { Effect, Option, Predicate, Redacted, Schema } from "effect"
import { createServer, type IncomingMessage, type Server } from "node:http"
import { type Environment, invoke, jsonLines } from "./invoke.js"

const decode = Schema.decodeUnknownSync(Schema.Array(DoctorReport.DoctorReport), { onExcessProperty: "error" })

const profileIn = (stdout: string) => {
  const report = decode(jsonLines(stdout)).find(({ type }) => type === "profile")
  return report?.type === "profile" ? report : assert.fail(stdout)
}

/** The doctor writes a profile, and with it a file goes there and back. */
const written = (env: Environment) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const profile = `${folder}/service.json`
    const ended = yield* invoke(["doctor", "--json", "--write-profile", profile], env)
    assert.isTrue(yield* fs.exists(profile), ended.stdout + ended.stderr)
    const text = yield* fs.readFileString(profile)
    assert.notInclude(text, env["STEVEDORE_TOKEN"] ?? "")
    yield* fs.writeFileString(`${folder}/a.txt`, "some text")
    const upload = yield* invoke(["upload", `${folder}/a.txt`, "--profile", profile], env)
    assert.strictEqual(upload.code, 0, upload.stderr)
    const [id = ""] = upload.stdout.split("\t")
    const words = ["--profile", profile, "--any-size", "--output", `${folder}/copy.txt`, "--", id]
    const download = yield* invoke(["download", ...words], env)
    assert.strictEqual(download.code, 0, download.stderr)
    assert.strictEqual(yield* fs.readFileString(`${folder}/copy.txt`), "some text")
    return { profile: JSON.parse(text), path: profile, fs }
  })

const varied = (variation: ServiceVariation.ServiceVariation) =>
  Effect.map(
    SandboxServer.start(
      { port: 0, storagePort: 0, directory: Option.none(), token: Option.none(), projects: 0 },
      { ...ServiceVariation.options(variation), variation }
    ),
    (sandbox) => ({ STEVEDORE_BASE_URL: sandbox.baseUrl, STEVEDORE_TOKEN: Redacted.value(sandbox.token) })
  )

const { plain } = ServiceVariation

const otherNames = {
  fileName: "displayName",
  mediaType: "mimeType",
  size: "file_size",
  parts: "numParts",
  fileId: "uuid",
  partUrl: "signedUrl",
  partNumber: "number",
  completeParts: "completedParts",
  completePartNumber: "PartNumber",
  completeEtag: "ETag",
  downloadUrl: "download_url"
} as const

const services: ReadonlyArray<readonly [string, ServiceVariation.ServiceVariation]> = [
  ["that the standard profile fits", plain],
  ["with other names, named in its refusals", {
    ...plain,
    open: { ...plain.open, names: otherNames },
    session: { ...plain.session, urls: "objects in any order" }
  }],
  ["with other names, whose refusals say nothing", {
    ...plain,
    open: { ...plain.open, names: otherNames },
    answers: { ...plain.answers, refusals: "nothing" }
  }],
  ["with other names, at other paths, of other storage, downloads by link, in gzip", {
    ...plain,
    open: { names: otherNames, paths: "other", storage: "acme", download: "link" },
    answers: { ...plain.answers, refusals: "HTML", coding: "gzip", byteOrderMark: true },
    session: { ...plain.session, envelope: "none", ids: "leading dash", urls: "objects without numbers" }
  }]
]

describe("doctor --write-profile", () => {
  it.scopedLive.each(services)(
    "writes a profile that works for a service %s",
    ([, variation]) =>
      Effect.gen(function*() {
        const { profile } = yield* written(yield* varied(variation))
        const { download, names, paths, storage } = variation.open
        const { fields } = ServiceVariation.profileFields(variation)
        // each name that was found is the service's, and none is missing of those that an upload needs
        const found = Predicate.isRecord(profile.fields) ? profile.fields : {}
        assert.deepInclude(names, found)
        const needed = Object.keys(Predicate.isRecord(fields) ? fields : {}).filter((field) =>
          !["mediaType", "partUrl", "partNumber", "downloadUrl"].includes(field)
        )
        assert.includeMembers(Object.keys(found), needed)
        assert.strictEqual(profile.download ?? "content", download)
        assert.deepStrictEqual(profile.paths, paths === "other" ? { initiateUpload: "/v2/uploads" } : undefined)
        assert.deepStrictEqual(
          profile.encryptionHeaders,
          storage === "amz" ? undefined : ServiceVariation.encryptionHeaders(storage)
        )
      }).pipe(Effect.provide(NodeContext.layer)),
    120_000
  )

  it.scopedLive(
    "replaces a file only with --overwrite, and asks nothing of the service before",
    () =>
      Effect.gen(function*() {
        const { env, fs, path } = yield* Effect.gen(function*() {
          const env = yield* varied(plain)
          return { env, ...(yield* written(env)) }
        })
        yield* fs.writeFileString(path, "mine")
        const refused = yield* invoke(["doctor", "--write-profile", path], env)
        assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
        assert.match(refused.stderr, /^--write-profile: \S+ already exists: give --overwrite/)
        assert.strictEqual(yield* fs.readFileString(path), "mine")
        assert.strictEqual((yield* invoke(["doctor", "--write-profile", path, "--overwrite"], env)).code, 0)
        assert.notStrictEqual(yield* fs.readFileString(path), "mine")
        assert.strictEqual((yield* invoke(["doctor", "--write-profile", "/no/such/place.json"], env)).code, 2)
      }).pipe(Effect.provide(NodeContext.layer)),
    120_000
  )

  it.scopedLive("asks for what it cannot find out, one line each, and writes nothing", () =>
    Effect.gen(function*() {
      const server = yield* Effect.acquireRelease(
        Effect.async<Server>((resume) => {
          const one: Server = createServer((request: IncomingMessage, response) => {
            request.resume()
            response.writeHead(request.method === "POST" ? 422 : 404).end("{\"message\":\"no\"}")
          })
          one.listen(0, "127.0.0.1", () => resume(Effect.succeed(one)))
        }),
        (one) => Effect.sync(() => one.close())
      )
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const env = { STEVEDORE_BASE_URL: `http://127.0.0.1:${port}`, STEVEDORE_TOKEN: "api.nothing" }
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const { code, stderr, stdout } = yield* invoke(["doctor", "--json", "--write-profile", `${folder}/p.json`], env)
      assert.strictEqual(code, 1)
      assert.deepStrictEqual(
        profileIn(stdout).questions.map((one) => one.split(":")[0]),
        ["fields.fileName", "fields.mediaType", "fields.size"]
      )
      assert.include(stderr, "ProfileIncomplete")
      assert.deepStrictEqual(yield* fs.readDirectory(folder), [])
    }).pipe(Effect.provide(NodeContext.layer)))
})
