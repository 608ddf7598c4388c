import type { Rewrite } from "./rule.js"
import { effectRules } from "./rules/effect.js"
import { platformRules } from "./rules/platform.js"
import { schemaRules } from "./rules/schema.js"

/** By member of Effect 3: what Effect 4 writes in another form. */
export const rewrites: ReadonlyMap<string, Rewrite> = new Map([...effectRules, ...platformRules, ...schemaRules])
