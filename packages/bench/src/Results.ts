/** RESULTS.md: a section for each topic. A run replaces the sections of the topics it ran, and leaves the others. */
import * as Markdown from "./Markdown.js"
import type { Goal, Section } from "./Topic.js"

const begin = (name: string) => `<!-- begin ${name} -->`

const end = (name: string) => `<!-- end ${name} -->`

const percent = (ratio: number): string => `${Math.round(Math.abs(ratio) * 100)} %`

const outcome = ({ aim, measured, moreIsBetter = false, safe }: Goal): string => {
  const isMet = (goal: number) => moreIsBetter ? measured >= goal : measured <= goal
  const missedBy = (goal: number) => percent(moreIsBetter ? 1 - measured / goal : measured / goal - 1)
  return isMet(aim)
    ? "aim reached"
    : isMet(safe)
    ? `safe; ${missedBy(aim)} short of the aim`
    : `**missed by ${missedBy(safe)}**`
}

const goals = (section: Section): string =>
  section.goals.length === 0 ? "" : `\n${
    Markdown.table(
      ["goal", "safe", "aim", "measured", ""],
      section.goals.map((goal) => [
        goal.title,
        Markdown.number(goal.safe),
        Markdown.number(goal.aim),
        Markdown.number(goal.measured),
        outcome(goal)
      ])
    )
  }\n`

export interface Occasion {
  readonly date: string
  readonly machine: string
}

export const render = (section: Section, { date, machine }: Occasion): string =>
  [`## ${section.title}`, "", section.conditions, "", `${date}; ${machine}.`, "", section.body, goals(section)].join(
    "\n"
  )

const preface = `# Results

Each contender is a process of its own, bundled into one script where it is a program of Node; time and memory are those
of the whole process, start included. The other end is a small program on loopback that counts what it gets and drops it;
a run that moved other bytes than it should is no result. Medians, and in brackets the least and the most.

Made by \`npm run bench\`; \`npm run bench -- <topic>\` replaces one section.
`

const placeOf = (text: string, name: string): readonly [from: number, to: number] | undefined => {
  const from = text.indexOf(begin(name))
  const to = text.indexOf(end(name))
  return from === -1 || to === -1 ? undefined : [from, to + end(name).length]
}

/** The file with a section replaced, or added at the end. */
export const withSection = (file: string | undefined, name: string, section: string): string => {
  const text = file ?? preface
  const block = `${begin(name)}\n${section}\n${end(name)}`
  const place = placeOf(text, name)
  return place === undefined
    ? `${text.trimEnd()}\n\n${block}\n`
    : text.slice(0, place[0]) + block + text.slice(place[1])
}
