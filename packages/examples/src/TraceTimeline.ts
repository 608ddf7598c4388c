/** What a picture of a span needs. Times are in milliseconds from the start of the trace. */
export interface Bar {
  readonly name: string
  readonly depth: number
  readonly from: number
  readonly to: number
  readonly failed: boolean
}

const width = 960
const nameWidth = 350
const rowHeight = 24

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

const seconds = (millis: number): string => `${(millis / 1000).toFixed(1)} s`

/** A picture of one trace, one line per span, readable on light and on dark backgrounds. */
export const draw = (bars: ReadonlyArray<Bar>): string => {
  const whole = Math.max(1, ...bars.map(({ to }) => to))
  const at = (millis: number): number => Math.round(nameWidth + (millis / whole) * (width - nameWidth - 70))
  const rows = bars.map(({ depth, failed, from, name, to }, index) => {
    const top = 8 + index * rowHeight
    const left = at(from)
    const length = Math.max(2, at(to) - left)
    const fill = failed ? "#d9480f" : depth === 0 ? "#1c7ed6" : name.startsWith("ServiceApi") ? "#7048e8" : "#2b8a3e"
    return [
      `  <text x="${8 + depth * 14}" y="${top + 15}" class="name">${escaped(name)}</text>`,
      `  <rect x="${left}" y="${top + 4}" width="${length}" height="14" rx="3" fill="${fill}"/>`,
      `  <text x="${left + length + 6}" y="${top + 15}" class="time">${seconds(to - from)}</text>`
    ].join("\n")
  })
  const height = 16 + bars.length * rowHeight
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="The spans of one upload">
  <style>text{font:13px ui-monospace,monospace;fill:#808890}.time{font-size:11px}</style>
${rows.join("\n")}
</svg>
`
}
