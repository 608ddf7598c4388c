const notGreen = "some of its tests fail on 4, which nobody has looked at yet"

/** Files of tests that are not on the line for Effect 4, and why, beside those that use what it does not have yet. */
export const withheld: Readonly<Record<string, string>> = {
  "packages/core/test/Checkpoints.test.ts": notGreen,
  "packages/core/test/Interruption.test.ts":
    "of a list that is fetched ahead, one page is requested where 3 requests two",
  "packages/core/test/Metadata.test.ts": "metadata with the name of a prototype is refused later on 4",
  "packages/core/test/ServiceConfig.test.ts": "errors of a configuration name neither variable nor path on 4",
  "packages/core/test/UploadLedger.test.ts": "one of its stores gives an Option, as on 3",
  "packages/core/test/UploadOptions.test.ts": notGreen,
  "packages/core/test/UploadSessions.test.ts": notGreen,
  "packages/core/test/Uploads.test.ts":
    "one of 70 hangs: just when the last part is stored, a pause keeps Complete back",
  "packages/core/test/internal/fetchedAhead.test.ts": "within what may not be interrupted, the end is not reached on 4",
  "packages/node/test/StevedoreHttpApp.test.ts": notGreen,
  "packages/node/test/UploadHooks.test.ts": notGreen,
  "packages/core/test/NoSecret.test.ts": "what an upload logs of a 403 is not recorded on 4",
  "packages/core/test/UploadResume.test.ts": "it names the timeout of Effect, which is another error on 4",
  "packages/node/test/integration/OpenFiles.test.ts": "it starts packages/node/test/support/fewFiles.ts",
  "packages/node/test/integration/put.test.ts":
    "it makes a tracer, and compares exits, as on 3; the other 36 of its tests pass on 4",
  "packages/testing/test/support/realStorage.ts": "it starts an object store that is not beside the line",
  "packages/testing/test/integration/RealStorage.test.ts": "it starts an object store that is not beside the line",
  "packages/testing/test/integration/Sockets.test.ts":
    "a body without a length is sent in another way by the client of 4",
  "packages/core/test/upload/decisions.test.ts": "its table compares errors as text, in which 4 puts the tag first"
}
