// Effect's own style, from the configuration of its repository: for the linter, and for what is written for Effect 4.
export const style = /** @type {const} */ ({
  indentWidth: 2,
  lineWidth: 120,
  semiColons: "asi",
  quoteStyle: "alwaysDouble",
  trailingCommas: "never",
  operatorPosition: "maintain",
  "arrowFunction.useParentheses": "force"
})
