import type { StevedoreUpload } from "@stevedore/browser/element"

/** The element in a page of the documentation: its service and its storage are in the memory of the page. */
export const goLive = async (upload: StevedoreUpload): Promise<void> => {
  const [{ on }, { memory }] = await Promise.all([
    import("@stevedore/testing/FaultScript"),
    import("@stevedore/testing/SandboxLayer")
  ])
  upload.limits = { total: 200_000_000 }
  // slow enough to be watched, and in parts small enough to be seen
  const part = 250_000
  upload.layer = memory({
    minimumPartSize: 1,
    recommendedPartSize: part,
    faults: on("putPart").always().delay("250 millis")
  })
  upload.upload = { threshold: part, concurrency: 1 }
  await import("@stevedore/browser/element")
}
