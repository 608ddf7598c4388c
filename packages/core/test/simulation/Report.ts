import type { Law } from "./Laws.js"

/** A breach of a law, and the seed that shows it again. */
export interface Finding {
  readonly seed: number
  readonly law: Law
  readonly what: string
}

/** What some histories have met, by name, and the laws that they broke. */
export interface Report {
  readonly histories: number
  /** In how many histories each was met. */
  readonly met: Readonly<Record<string, number>>
  readonly findings: ReadonlyArray<Finding>
}

export const empty: Report = { histories: 0, met: {}, findings: [] }

export const merge = (one: Report, other: Report): Report => {
  const met: Record<string, number> = { ...one.met }
  for (const [name, count] of Object.entries(other.met)) met[name] = (met[name] ?? 0) + count
  return {
    histories: one.histories + other.histories,
    met,
    findings: [...one.findings, ...other.findings].sort((a, b) => a.seed - b.seed)
  }
}
