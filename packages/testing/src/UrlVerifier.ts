/** Checks whether a request at storage is what a pre-signed URL allows. */

export * from "@stevedore/server/UrlVerifier"
