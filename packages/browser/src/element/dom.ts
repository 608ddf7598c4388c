/** Creates an element. Not from markup: pages may forbid that. */
export const make = <K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: ReadonlyArray<Node | string>
): HTMLElementTagNameMap[K] => {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children)
  return element
}

const svg = "http://www.w3.org/2000/svg"

export const icon = (shape: string, box = 24): SVGSVGElement => {
  const picture = document.createElementNS(svg, "svg")
  picture.setAttribute("viewBox", `0 0 ${box} ${box}`)
  picture.setAttribute("aria-hidden", "true")
  const path = document.createElementNS(svg, "path")
  path.setAttribute("d", shape)
  picture.append(path)
  return picture
}

export const button = (
  attributes: Readonly<Record<string, string>>,
  act: () => void,
  ...children: ReadonlyArray<Node | string>
): HTMLButtonElement => {
  const element = make("button", { type: "button", part: "button", ...attributes }, ...children)
  element.addEventListener("click", act)
  return element
}

/** Adds a style, and returns what takes it away. */
export const adopt = (root: ShadowRoot, text: string) => {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(text)
  root.adoptedStyleSheets.push(sheet)
  return (): void => {
    root.adoptedStyleSheets = root.adoptedStyleSheets.filter((one) => one !== sheet)
  }
}
