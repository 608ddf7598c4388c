import { assert, describe, it } from "@effect/vitest"
import * as DoctorReport from "../../src/print/doctorReport.js"
import * as Printable from "../../src/print/printable.js"
import type { CheckReport } from "../../src/print/serviceSchemas.js"

describe("the lines of a check", () => {
  it("wrap lines to the terminal width without losing the remedy", () => {
    const report: CheckReport = {
      type: "check",
      check: "single-put",
      title: "single PUT",
      outcome: "failed",
      found: "storage refused it ".repeat(12).trim(),
      remedy: "compare the profile with what the service signs"
    }
    for (const columns of [39, 79, 199]) {
      const lines = DoctorReport.lines(report, columns)
      assert.isTrue(lines.every((line) => Printable.width(line) <= columns), lines.join("\n"))
      assert.include(lines.join(" ").replace(/\s+/g, " "), "-> compare the profile with what the service signs")
    }
  })
})
