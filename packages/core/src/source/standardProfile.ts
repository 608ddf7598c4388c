/**
 * The interface as given, with a default for each gap. Plain values, so that using them does not load the Schema that
 * validates other profiles.
 */
export const standardProfile = {
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
} as const

/**
 * The profile of a page whose service is the user's own server in between: it is told what the service behind it may
 * want to know, and says what it has learned from it.
 */
export const pageProfile = {
  ...standardProfile,
  fields: { ...standardProfile.fields, partSize: "part_size", metadata: "metadata" },
  completeUploadBody: { file_id: "{file_id}", etag: "{etag}", size: "{size}", name: "{name}", type: "{type}" }
} as const

/**
 * A path that belongs to a file. Without its id it is the same for every file, which only the last call of an upload
 * would reveal.
 */
export const pathOfFile = /^\/.*\{file_id\}/
