/** The list endpoints of the service, and records for them. */

export * from "@stevedore/server/ListResources"
