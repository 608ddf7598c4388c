/** The lines of `--json`: what programs that read them can rely on. Each decodes with its Schema here. */
export * from "./print/schemas.js"
export * from "./print/serviceSchemas.js"
