/**
 * Annotates the Schema of a record of the service: what it does not name goes through it as it is, on both ways, whoever
 * decodes or encodes by it.
 *
 * @internal
 */
export const serviceRecord = (identifier: string) => ({
  identifier,
  parseOptions: { onExcessProperty: "preserve" as const }
})
