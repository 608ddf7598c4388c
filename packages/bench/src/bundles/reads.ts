/** An upload, lists and downloads. */
export * as Downloads from "@stevedore/core/Downloads"
export * as Lists from "@stevedore/core/Lists"
export * from "./stevedore.js"
