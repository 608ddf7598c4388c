// An ESLint rule: bytes are not cut with slice. It copies a Uint8Array, but of a Buffer, which is one too, it makes a view.

import { ESLintUtils } from "@typescript-eslint/utils"

const bytes = new Set(["Uint8Array", "Buffer", "NonSharedBuffer"])

/** @type {import("eslint").Rule.RuleModule} */
export const bytesSlice = {
  meta: {
    type: "problem",
    schema: [],
    messages: {
      slice: "`slice` copies no Buffer: new Uint8Array(bytes) is a copy of any bytes, and subarray a view"
    }
  },
  create: (context) => {
    const services = ESLintUtils.getParserServices(/** @type {any} */ (context))
    /** @param {import("typescript").Type} type @returns {boolean} */
    const isBytes = (type) => type.isUnionOrIntersection() ? type.types.some(isBytes) : bytes.has(type.symbol?.name)
    return {
      "CallExpression > MemberExpression.callee[property.name='slice']": (/** @type {any} */ node) => {
        const type = services.getTypeAtLocation(node.object)
        if (isBytes(services.program.getTypeChecker().getApparentType(type))) {
          context.report({ node, messageId: "slice" })
        }
      }
    }
  }
}
