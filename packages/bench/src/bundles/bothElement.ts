/** An application with Effect that has the element too. */
import "@stevedore/browser/element"

export * from "./effectAlone.js"
