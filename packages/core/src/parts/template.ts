/** What is known, by what stands for it in a template, such as `{name}`. */
export type Known = Readonly<Record<string, unknown>>

/** What has this in it is told of each part. */
export const ofPart = /\{(part_number|etag)\}/

/**
 * A template with what is known in the places that stand for it; undefined where it is not known. What has the number or the
 * etag of a part in it is repeated for each part: an element of a list, and an entry of an object that has it in its name.
 */
export const filled = (template: unknown, known: Known, parts: ReadonlyArray<Known> = [{}]): unknown => {
  if (typeof template === "string") {
    if (Object.hasOwn(known, template)) return known[template]
    const pieces = template.split(/(\{\w+\})/).map((piece) => Object.hasOwn(known, piece) ? known[piece] : piece)
    return pieces.includes(undefined) ? undefined : pieces.join("")
  }
  if (typeof template !== "object" || template === null) return template
  const isList = Array.isArray(template)
  const entries = Object.entries(template).flatMap(([name, one]) =>
    ofPart.test(isList ? JSON.stringify(one) : name)
      ? parts.map((part) => [filled(name, part), filled(one, { ...known, ...part }, [part])] as const)
      : [[name, filled(one, known, parts)] as const]
  )
  return isList ? entries.map(([, one]) => one) : Object.fromEntries(entries)
}
