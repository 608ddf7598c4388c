/** An object store in a directory. */

export * from "@stevedore/server/ObjectStoreDirectory"
