/** The object store behind the sandbox's storage. */

export * from "@stevedore/server/ObjectStore"
