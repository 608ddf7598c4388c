/** A line chart as the results of the benches have it (mermaid's `xychart-beta`), without a script in the reader's browser. */

interface Chart {
  readonly title: string
  readonly x: { readonly title: string; readonly labels: ReadonlyArray<string> }
  readonly y: { readonly title: string; readonly most: number }
  readonly line: ReadonlyArray<number>
}

const field = (source: string, pattern: RegExp): ReadonlyArray<string> => {
  const found = pattern.exec(source)
  if (found === null) throw new Error(`A chart without ${pattern.source}`)
  return found.slice(1)
}

const parse = (source: string): Chart => {
  const [title = ""] = field(source, /^\s*title "(.*)"$/m)
  const [xTitle = "", labels = ""] = field(source, /^\s*x-axis "(.*?)" \[(.*)\]$/m)
  const [yTitle = "", most = ""] = field(source, /^\s*y-axis "(.*?)" 0 --> (\S+)$/m)
  const [line = ""] = field(source, /^\s*line \[(.*)\]$/m)
  return {
    title,
    x: { title: xTitle, labels: [...labels.matchAll(/"(.*?)"/g)].map(([, label = ""]) => label) },
    y: { title: yTitle, most: Number(most) },
    line: line.split(",").map(Number)
  }
}

const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`)

const plane = { left: 56, top: 36, width: 520, height: 180 }

const bottom = plane.top + plane.height

const text = (x: number, y: number, content: string, more = ""): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-size="12" fill="var(--vp-c-text-2)" ${more}>${
    escaped(content)
  }</text>`

/**
 * The chart as SVG in the colours of the page, with its values in words for whoever cannot see it.
 *
 * @internal
 */
export const chart = (source: string): string => {
  const { line, title, x, y } = parse(source)
  const most = Math.max(y.most, ...line)
  const across = (index: number): number =>
    plane.left + plane.width * (line.length === 1 ? 0.5 : index / (line.length - 1))
  const up = (value: number): number => bottom - plane.height * (most === 0 ? 0 : value / most)
  const points = line.map((value, index) => `${across(index).toFixed(1)},${up(value).toFixed(1)}`)
  const grid = [0, 0.5, 1].map((part) => {
    const height = up(part * most).toFixed(1)
    const rule = `x1="${plane.left}" x2="${plane.left + plane.width}" y1="${height}" y2="${height}"`
    return `<line ${rule} stroke="var(--vp-c-divider)"/>` +
      text(plane.left - 8, Number(height) + 4, String(Number((part * most).toPrecision(2))), "text-anchor=\"end\"")
  })
  const labels = x.labels.map((label, index) => text(across(index), bottom + 20, label, "text-anchor=\"middle\""))
  const dots = points.map((point) => {
    const [cx, cy] = point.split(",")
    return `<circle cx="${cx}" cy="${cy}" r="3.5" fill="var(--vp-c-brand-1)"/>`
  })
  const words = `${title}. ${line.map((value, index) => `${x.labels[index] ?? ""}: ${value} ${y.title}`).join("; ")}.`
  return [
    `<svg viewBox="0 0 620 264" role="img" aria-label="${escaped(words)}" style="max-width: 620px; width: 100%">`,
    text(plane.left, 20, `${title}, ${y.title}`, "font-weight=\"600\""),
    ...grid,
    `<polyline points="${points.join(" ")}" fill="none" stroke="var(--vp-c-brand-1)" stroke-width="2"/>`,
    ...dots,
    ...labels,
    text(plane.left + plane.width / 2, bottom + 42, x.title, "text-anchor=\"middle\""),
    "</svg>"
  ].join("")
}
