/** An application with Effect that uploads with the core alone too. */
export * from "./core.js"
export * from "./effectAlone.js"
