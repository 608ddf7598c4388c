/** An application with Effect that uploads too. */
export * from "./effectAlone.js"
export * from "./stevedore.js"
