// An ESLint rule: every public export says what it gives, and in which category of the docs. The version since which it is
// there is said from the second one on. docgen does not ask for a category, and asks a type for a description even where
// the value of the same name has one.

/** @param {string} comment */
const prose = (comment) => comment.replace(/^\s*\* ?/gm, "").replace(/^@[^]*/m, "").trim()

/** @param {any} declaration @returns {ReadonlyArray<string>} */
const namesOf = (declaration) =>
  declaration.type === "VariableDeclaration"
    ? declaration.declarations.map((/** @type {any} */ one) => one.id.name)
    : declaration.id === null || declaration.id === undefined
    ? []
    : [declaration.id.name]

/** @type {import("eslint").Rule.RuleModule} */
export const docstring = {
  meta: {
    type: "problem",
    schema: [],
    messages: {
      missing: "{{name}} is public and has no docstring",
      description: "The docstring of {{name}} does not say what it gives",
      category: "The docstring of {{name}} has no @category"
    }
  },
  create: (context) => {
    /** @type {Set<string>} */
    const described = new Set()
    /** @type {Array<any>} */
    const undescribed = []
    // a command is documented by its help
    const isGrouped = !context.filename.includes("/packages/cli/")

    /** @param {any} node @param {any} declaration */
    const check = (node, declaration) => {
      const doc = context.sourceCode.getCommentsBefore(node)
        .findLast((comment) => comment.type === "Block" && comment.value.startsWith("*"))?.value
      for (const name of namesOf(declaration)) {
        if (doc === undefined) {
          // the overloads of one function share the first one's docstring
          if (!described.has(name)) context.report({ node, messageId: "missing", data: { name } })
          continue
        }
        if (/^\s*\* @(?:internal|ignore)\b/m.test(doc)) continue
        // every module has the same TypeId
        if (prose(doc) === "" && name !== "TypeId") undescribed.push({ node, name })
        else described.add(name)
        if (isGrouped && !/^\s*\* @category \S/m.test(doc)) {
          context.report({ node, messageId: "category", data: { name } })
        }
      }
    }

    return {
      "Program > ExportNamedDeclaration": (/** @type {any} */ node) => {
        if (node.declaration !== null && node.declaration !== undefined) check(node, node.declaration)
      },
      "Program:exit": () => {
        for (const { name, node } of undescribed) {
          if (!described.has(name)) context.report({ node, messageId: "description", data: { name } })
        }
      }
    }
  }
}
