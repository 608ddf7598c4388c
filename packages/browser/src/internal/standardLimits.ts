/**
 * Of the standard profile's limits those that are asked before there is a service. The profile itself brings the Schema
 * that checks the profiles of others, which no page needs to load.
 *
 * @internal
 */
export const standardLimits = {
  multipartSize: 10_000_000_000,
  nameLength: 1024,
  mediaTypeLength: 255
}
