import { FileSystem, Terminal } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import * as SandboxServer from "@stevedore/cli/SandboxServer"
import { Checksum, ServiceProfile } from "@stevedore/core"
import { NodeStevedore } from "@stevedore/node"
import { Effect, Option, Predicate, Redacted, Schema } from "effect"
import * as ServiceVariation from "../../../testing/test/variation/ServiceVariation.js"
import * as Varied from "../../../testing/test/variation/varied.js"
import * as Output from "../../src/print/output.js"
import * as Schemas from "../../src/print/serviceSchemas.js"
import * as ProfileFile from "../../src/profile/file.js"
import { type Environment, invoke, jsonLines } from "./invoke.js"
import * as LawfulServices from "./lawfulServices.js"
import { listening } from "./listening.js"
import { bodyOf } from "./plainService.js"

const decode = Schema.decodeUnknownSync(Schema.Array(Schemas.DoctorReport), { onExcessProperty: "error" })

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
      Varied.options(variation)
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
    open: { ...plain.open, names: otherNames, paths: "other", storage: "acme", download: "link" },
    answers: { ...plain.answers, refusals: "HTML", coding: "gzip", byteOrderMark: true },
    session: { ...plain.session, envelope: "none", ids: "leading dash", urls: "objects without numbers" }
  }]
]

/** A service with another envelope, which names the size of parts and demands no media type. */
const oddService = ({ shows, size = "size" }: { readonly shows: string | undefined; readonly size?: string }) =>
  Effect.gen(function*() {
    const files = new Map<string, { readonly type: unknown; content: Buffer }>()
    const origin = yield* listening((request, response) => {
      void bodyOf(request).then((body) => {
        const origin = `http://${request.headers.host}`
        const at = (request.url ?? "").replace(/\?.*/, "")
        const json = (status: number, value: unknown) =>
          response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))
        const file = files.get(/\/(f\d+)/.exec(at)?.[1] ?? "")
        if (request.method === "PUT" && file !== undefined) {
          file.content = Buffer.concat([file.content, body])
          return response.writeHead(200, { etag: `"${at}"` }).end()
        }
        if (at === "/v2/files/upload" || at === "/v2/files/large-upload") {
          const told = JSON.parse(body.toString())
          if (typeof told[size] !== "number") return json(422, { message: "incomplete" })
          const id = `f${files.size + 1}`
          files.set(id, { type: shows === undefined ? undefined : told[shows], content: Buffer.alloc(0) })
          const urls = [1, 2].map((part) => `${origin}/put/${id}/${part}?sig=a`)
          return json(201, {
            result: at.endsWith("large-upload")
              ? { id, upload_id: "u", plan: { chunk_bytes: Math.ceil(told[size] / 2) }, urls }
              : { id, upload_url: `${origin}/put/${id}/1?sig=a` }
          })
        }
        if (file === undefined) return json(404, {})
        if (at.endsWith("/download")) return response.writeHead(200).end(file.content)
        const digest = Checksum.ofBytes(Checksum.crc32, file.content)
        const other = { ...digest, value: "AAAAAA==" }
        return json(200, {
          result: shows === undefined ? { other } : { other, content: { digest }, [shows]: file.type }
        })
      })
    })
    return { env: { STEVEDORE_BASE_URL: origin, STEVEDORE_TOKEN: "api.nothing" } }
  })

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

  it.scopedLive.each(LawfulServices.services)(
    "writes a profile by which a service %s gets one PUT and parts",
    ([, service]) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        const { contentOf, origin } = yield* LawfulServices.serve(service)
        const env = { STEVEDORE_BASE_URL: origin, STEVEDORE_TOKEN: "api.nothing", STEVEDORE_STATE_DIR: folder }
        const path = `${folder}/service.json`
        const given = service.byHand === undefined ? [] : ["--profile", `${folder}/by-hand.json`]
        if (service.byHand !== undefined) {
          const { code, stderr, stdout } = yield* invoke(["doctor", "--write-profile", path], env)
          assert.strictEqual(code, 1)
          assert.include(stdout, "Not found out: initiateBody.folder_id: the value that the service wants there")
          assert.include(stderr, "initiateBody.folder_id")
          assert.notInclude(stdout, "fits as it is")
          yield* fs.writeFileString(`${folder}/by-hand.json`, JSON.stringify({ initiateBody: service.byHand }))
        }
        const told = yield* invoke(["doctor", "--write-profile", path, ...given], env)
        assert.strictEqual(told.code, 0, told.stdout + told.stderr)
        const { baseUrl: _, ...found } = JSON.parse(yield* fs.readFileString(path))
        if (service.byHand === undefined) assert.deepStrictEqual(found, service.profile)
        for (const [size, parts] of [[1000, []], [2 * 5_242_880, ["--parts", "2"]]] as const) {
          const bytes = Buffer.alloc(size, `${size} `)
          yield* fs.writeFile(`${folder}/a.bin`, bytes)
          const upload = yield* invoke(["upload", `${folder}/a.bin`, "--profile", path, ...parts], env)
          assert.strictEqual(upload.code, 0, upload.stderr)
          assert.isTrue(contentOf(upload.stdout.split("\t")[0] ?? "").equals(bytes))
        }
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

  it.scopedLive(
    "finds another envelope, the size of parts, and the name of a media type that is not demanded",
    () =>
      Effect.gen(function*() {
        const { env } = yield* oddService({ shows: "mime" })
        const { profile } = yield* written(env)
        assert.deepStrictEqual(profile, {
          fields: { checksum: "content.digest", mediaType: "mime", partSize: "plan.chunk_bytes" },
          envelope: "result"
        })
      }).pipe(Effect.provide(NodeContext.layer)),
    120_000
  )

  it.scopedLive("names what nothing shows, and what it assumes", () =>
    Effect.gen(function*() {
      const { env } = yield* oddService({ shows: undefined })
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const { stdout } = yield* invoke(["doctor", "--json", "--write-profile", `${folder}/p.json`], env)
      assert.deepStrictEqual(profileIn(stdout).assumed.map((one) => one.split(":")[0]), [
        "fields.checksum",
        "fields.mediaType",
        "fields.parts"
      ])
      const words = yield* invoke(["doctor", "--write-profile", `${folder}/q.json`], env)
      assert.match(words.stdout, /Not found out: fields.mediaType: .*type is assumed/)
    }).pipe(Effect.provide(NodeContext.layer)), 120_000)

  /** Discovers a profile for somebody at a terminal, who knows these fields. */
  const answering = (
    baseUrl: string,
    answers: Readonly<Record<string, string>>,
    profile: ServiceProfile.ServiceProfile = ServiceProfile.standard
  ) =>
    Effect.gen(function*() {
      const told: Array<string> = []
      const service = { baseUrl, token: Redacted.make("api.nothing"), profile }
      const { text } = yield* ProfileFile.discover(service, { json: false, left: [] })
        .pipe(
          Effect.provideService(Terminal.Terminal, {
            columns: Effect.succeed(80),
            rows: Effect.succeed(24),
            isTTY: Effect.succeed(true),
            readInput: Effect.dieMessage("only lines are read"),
            readLine: Effect.sync(() => answers[told.at(-1) ?? ""] ?? ""),
            display: () => Effect.void
          }),
          Effect.provideService(Output.Output, {
            lines: () => Effect.void,
            styled: () => Effect.void,
            json: () => Effect.void,
            note: () => Effect.void,
            warn: (line) => Effect.sync(() => told.push(line.split(":")[0] ?? "")),
            unsafeNote: () => {},
            status: () => Effect.void,
            isTerminal: true,
            terminal: Effect.succeedNone,
            columns: undefined
          }),
          Effect.provide(NodeStevedore.layerClient({}))
        )
      return { profile: JSON.parse(text), told }
    })

  it.scopedLive("asks on a terminal, one line for each, and tries the answers out", () =>
    Effect.gen(function*() {
      const { env } = yield* oddService({ shows: "mime", size: "Umfang" })
      const { profile, told } = yield* answering(env.STEVEDORE_BASE_URL, { "fields.size": "Umfang" })
      assert.deepInclude(profile.fields, { size: "Umfang", mediaType: "mime" })
      assert.deepStrictEqual(told, ["fields.fileName", "fields.mediaType", "fields.size"])
    }).pipe(Effect.provide(NodeContext.layer)), 120_000)

  it.scopedLive(
    "puts an answer into the object that the question names, and takes out of a body what is refused",
    () =>
      Effect.gen(function*() {
        const initiate = { name: "{name}", type: "{type}", size: "{size}", place: { folder: "inbox" } }
        const { origin } = yield* LawfulServices.serve({ ...LawfulServices.plain, initiate })
        const before = ServiceProfile.extend(ServiceProfile.standard, {
          encryptionHeaders: { "x-amz-server-side-encryption": "aws:kms" },
          initiateBody: { name: "{name}", type: "{type}", size: "{size}", colour: "red", place: { shelf: 1 } }
        })
        const { profile, told } = yield* answering(origin, { "initiateBody.place.folder": "inbox" }, before)
        assert.deepStrictEqual(told, ["initiateBody.place.folder"])
        assert.deepStrictEqual(profile.initiateBody, initiate)
      }).pipe(Effect.provide(NodeContext.layer)),
    120_000
  )

  it.scopedLive("asks for what it cannot find out, one line each, and writes nothing", () =>
    Effect.gen(function*() {
      const origin = yield* listening((request, response) => {
        request.resume()
        response.writeHead(request.method === "POST" ? 422 : 404).end("{\"message\":\"no\"}")
      })
      const env = { STEVEDORE_BASE_URL: origin, STEVEDORE_TOKEN: "api.nothing" }
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
