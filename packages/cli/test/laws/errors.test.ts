import { assert, describe, it } from "@effect/vitest"
import { errorsOf, laws } from "../../../examples/test/errorLaws.js"
import * as BulkModel from "../../src/bulk/model.js"
import * as Outcomes from "../../src/files/outcomes.js"
import * as ListItems from "../../src/list/list.js"
import * as InvalidInput from "../../src/options/invalidInput.js"
import * as DoctorReport from "../../src/print/doctorReport.js"
import * as Output from "../../src/print/output.js"
import * as ProfileFile from "../../src/profile/file.js"
import * as Bucket from "../../src/serve/bucket.js"
import * as FaultFile from "../../src/serve/faultFile.js"
import * as Unfinished from "../../src/upload/unfinished.js"

const errors = errorsOf("cli", [
  BulkModel,
  Bucket,
  DoctorReport,
  FaultFile,
  InvalidInput,
  ListItems,
  Outcomes,
  Output,
  ProfileFile,
  Unfinished
])

describe("the errors of the command", () => {
  it("are found", () => assert.isAtLeast(errors.length, 12))

  laws(errors)
})
