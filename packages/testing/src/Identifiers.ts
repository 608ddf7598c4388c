/** The identifiers that the sandbox issues. */

export * from "@stevedore/server/Identifiers"
