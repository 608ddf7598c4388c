/** Pre-signed URLs with AWS Signature Version 4. */

export * from "@stevedore/server/UrlSigner"
