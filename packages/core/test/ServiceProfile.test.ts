import { assert, describe, it } from "@effect/vitest"
import { ServiceProfile } from "@stevedore/core"
import { Arbitrary, Either, FastCheck as fc, pipe, Schema } from "effect"

const decode = Schema.decodeUnknownEither(ServiceProfile.ServiceProfile)

describe("ServiceProfile", () => {
  it("the standard profile is the given interface, with a default for each gap", () => {
    assert.deepStrictEqual(ServiceProfile.standard, {
      encryptionHeaders: { "x-amz-server-side-encryption": "aws:kms" },
      download: "content",
      urlLifetimeSeconds: 10_800,
      finalStates: ["completed"],
      paths: {
        initiateUpload: "/v2/files/upload",
        completeUpload: "/v2/files/{file_id}/upload/complete",
        initiateLargeUpload: "/v2/files/large-upload",
        completeLargeUpload: "/v2/files/{file_id}/large-upload/complete",
        file: "/v1/files/{file_id}",
        download: "/v1/files/{file_id}/download",
        tokenInfo: "/v1/token/info",
        importFile: "/v1/data/import/file"
      },
      envelope: "either",
      fields: {
        fileName: "name",
        mediaType: "type",
        size: "size",
        parts: "parts",
        fileId: ["id", "file_id"],
        uploadUrl: "upload_url",
        uploadId: "upload_id",
        urls: "urls",
        partUrl: "url",
        partNumber: "part_number",
        completeParts: "parts",
        completePartNumber: "part_number",
        completeEtag: "etag",
        downloadUrl: "url",
        checksum: "checksum"
      },
      completeUploadBody: "none",
      limits: {
        singleSize: 5_000_000_000,
        multipartSize: 10_000_000_000,
        minimumPartSize: 5_242_880,
        maximumPartSize: 5_368_709_120,
        parts: 10_000,
        nameLength: 1024,
        mediaTypeLength: 255,
        pageSize: 100
      }
    })
  })

  it("the live service differs only in its base URL, its downloads and its rate limit", () => {
    const { baseUrl, download, rateLimit, ...rest } = ServiceProfile.dovetail
    const { download: _, ...standard } = ServiceProfile.standard
    assert.deepStrictEqual({ baseUrl, download, rateLimit }, {
      baseUrl: "https://dovetail.com/api",
      download: "link",
      rateLimit: { requests: 200, windowSeconds: 60 }
    })
    assert.deepStrictEqual(rest, standard)
  })

  it("what a file does not name is as in the standard profile", () => {
    assert.deepStrictEqual(
      decode({ encryptionHeaders: { "X-Amz-Server-Side-Encryption": "AES256" }, download: "link" }),
      Either.right({
        ...ServiceProfile.standard,
        encryptionHeaders: { "x-amz-server-side-encryption": "AES256" },
        download: "link" as const
      })
    )
    assert.deepStrictEqual(
      decode({ limits: { parts: 100 }, paths: { file: "/files/{file_id}" }, fields: { fileName: "file_name" } }),
      Either.right({
        ...ServiceProfile.standard,
        limits: { ...ServiceProfile.standard.limits, parts: 100 },
        paths: { ...ServiceProfile.standard.paths, file: "/files/{file_id}" },
        fields: { ...ServiceProfile.standard.fields, fileName: "file_name" }
      })
    )
  })

  it.each([
    { download: "guess" },
    { encryptionHeaders: { "x-amz-acl": 1 } },
    { limits: { parts: 0 } },
    { limits: { singleSize: 1.5 } },
    { paths: { file: "v1/files/{file_id}" } },
    { paths: { initiateUpload: "files" } },
    { paths: { file: "/files/{id}" } },
    { paths: { download: "/files/{fileId}/content" } },
    { paths: { completeUpload: "/files/done" } },
    { paths: { completeLargeUpload: "/files/:file_id/done" } },
    { fields: { fileName: "" } },
    { fields: { fileId: [] } },
    { fields: { fileId: [""] } },
    { envelope: "" },
    { completeUploadBody: "empty" },
    { initiateBody: ["{name}"] },
    { initiateLargeBody: "{name}" },
    { completeLargeUploadBody: "none" },
    { fields: { uploadUrl: [] } },
    { urlLifetimeSeconds: -1 },
    { rateLimit: { requests: 0, windowSeconds: 60 } },
    "standard",
    null
  ])("is no profile: %j", (profile) => {
    assert.isTrue(Either.isLeft(decode(profile)))
  })

  it.prop("header names are in lower case, however they were written, and their values are kept", {
    headers: fc.dictionary(fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]*$/), fc.string())
  }, ({ headers }) => {
    const expected = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
    assert.deepStrictEqual(
      Either.map(decode({ encryptionHeaders: headers }), (profile) => profile.encryptionHeaders),
      Either.right(expected)
    )
    assert.deepStrictEqual(
      ServiceProfile.extend(ServiceProfile.standard, { encryptionHeaders: headers }).encryptionHeaders,
      expected
    )
  })

  it.prop("extending by nothing changes nothing", {
    profile: Arbitrary.make(ServiceProfile.ServiceProfile)
  }, ({ profile }) => {
    const plain = ServiceProfile.extend(profile, {})
    assert.deepStrictEqual(ServiceProfile.extend(plain, {}), plain)
    assert.deepStrictEqual({ ...plain, encryptionHeaders: {} }, { ...profile, encryptionHeaders: {} })
  })

  it("an undefined change, such as one from an unset variable, changes nothing", () => {
    const { fields, limits, paths } = ServiceProfile.standard
    const unset = (names: object) => Object.fromEntries(Object.keys(names).map((name) => [name, undefined]))
    assert.deepStrictEqual(
      ServiceProfile.extend(ServiceProfile.standard, {
        encryptionHeaders: undefined,
        download: undefined,
        urlLifetimeSeconds: undefined,
        paths: unset(paths),
        fields: unset(fields),
        limits: unset(limits)
      }),
      ServiceProfile.standard
    )
    assert.deepStrictEqual(
      ServiceProfile.extend(ServiceProfile.standard, { paths: undefined, fields: undefined, limits: undefined }),
      ServiceProfile.standard
    )
  })

  it("can also be extended in a pipe", () => {
    const changes = { download: "link", limits: { parts: 3 } } as const
    assert.deepStrictEqual(
      pipe(ServiceProfile.standard, ServiceProfile.extend(changes)),
      ServiceProfile.extend(ServiceProfile.standard, changes)
    )
  })

  it("a base URL and a rate limit can be removed", () => {
    const { baseUrl, rateLimit } = ServiceProfile.extend(ServiceProfile.dovetail, {
      baseUrl: undefined,
      rateLimit: undefined
    })
    assert.deepStrictEqual([baseUrl, rateLimit], [undefined, undefined])
  })

  it("each path, field and limit can be changed by itself", () => {
    const extended = ServiceProfile.extend(ServiceProfile.standard, {
      limits: { parts: 3 },
      paths: { download: "/d/{file_id}" },
      fields: { mediaType: "mime_type" }
    })
    assert.strictEqual(extended.limits.parts, 3)
    assert.strictEqual(extended.limits.minimumPartSize, 5_242_880)
    assert.strictEqual(extended.paths.download, "/d/{file_id}")
    assert.strictEqual(extended.paths.file, "/v1/files/{file_id}")
    assert.strictEqual(extended.fields.mediaType, "mime_type")
    assert.strictEqual(extended.fields.fileName, "name")
  })
})
