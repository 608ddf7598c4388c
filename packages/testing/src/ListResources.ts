/**
 * The list endpoints of the service, and records for them.
 *
 * @since 0.1.0
 */

/**
 * @since 0.1.0
 */
export * from "@stevedore/server/ListResources"
