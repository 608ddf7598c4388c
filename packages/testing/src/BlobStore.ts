/** Where the bytes of one write are kept. */

export * from "@stevedore/server/BlobStore"
