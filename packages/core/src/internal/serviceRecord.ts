/**
 * Annotates the Schema of a service record: fields that it does not name pass through unchanged, in both directions,
 * whoever decodes or encodes with it.
 *
 * @internal
 */
export const serviceRecord = (identifier: string) => ({
  identifier,
  parseOptions: { onExcessProperty: "preserve" as const }
})
