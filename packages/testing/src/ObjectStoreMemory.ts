/** An object store in memory. */

export * from "@stevedore/server/parts/objectStoreMemory"
