/** The lines of `--json`: what programs that read them can rely on. Each decodes with its Schema here. */
export * from "./print/schemas.js"
/** Those of commands that look after a service and its jobs. */
export * from "./print/serviceSchemas.js"
