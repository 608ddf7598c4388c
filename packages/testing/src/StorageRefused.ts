/** How object storage refuses. */

export * from "@stevedore/server/StorageRefused"
