const inOneStep =
  "one of its tests has a service that answers in the same step: on 4 a part then ends before the next one begins"

const overHttp = "it makes a handler of a Node server, which takes options on 4"

const overSqlite = "its driver is written for the clients of Effect 3: no driver of SQLite for 4 is published as stable"

const inNode = "it serves on a port of Node: for whoever runs `stevedore serve`, which brings its own Effect"

/** Files that are not on the line for Effect 4, and why, beside tests that use what it does not have yet. */
export const withheld: Readonly<Record<string, string>> = {
  "packages/server/README.md": "it begins with NodeServe: packages/effect4/line has another one",
  "packages/server/src/NodeMetrics.ts": inNode,
  "packages/server/src/NodeProduction.ts": inNode,
  "packages/server/src/NodeServe.ts": inNode,
  "packages/server/src/OperationsApp.ts": "it shows the ServerApi",
  "packages/server/src/ServeSettings.ts": "its only use is NodeProduction",
  "packages/server/src/ServerApi.ts": "an HttpApi is written in another way on 4",
  "packages/server/src/Sqlite.ts": overSqlite,
  "packages/server/src/SqlObjectStore.ts": "its only use is `stevedore serve` over a directory",
  "packages/server/src/node/connections.ts": inNode,
  "packages/server/src/node/listen.ts": inNode,
  "packages/server/src/node/listening.ts": inNode,
  "packages/server/src/node/requests.ts": inNode,
  "packages/server/src/node/webhooks.ts": inNode,
  "packages/server/src/storage/room.ts": inNode,
  "packages/server/src/node/serveDirectory.ts": inNode,
  "packages/server/src/base/traced.ts": inNode,
  "packages/server/src/http/wholeAnswer.ts": inNode,
  "packages/core/test/Checkpoints.test.ts": "one of its tests compares the inner form of Chunks",
  "packages/core/test/UploadLedger.test.ts": "one of its stores gives an Option, as on 3",
  "packages/core/test/UploadOptions.test.ts": "one of its properties draws from the Arbitrary of another package",
  "packages/core/test/laws/UploadSessions.test.ts": inOneStep,
  "packages/core/test/Uploads.test.ts": inOneStep,
  "packages/node/test/StevedoreHttpApp.test.ts": overHttp,
  "packages/node/test/page/hooks.test.ts": overHttp,
  "packages/core/test/slow/laws/NoSecret.test.ts": "what an upload logs of a 403 is not recorded on 4",
  "packages/core/test/upload/resume.test.ts": "it names the timeout of Effect, which is another error on 4",
  "packages/node/test/integration/OpenFiles.test.ts": "it starts packages/node/test/support/fewFiles.ts",
  "packages/node/test/integration/put.test.ts":
    "it makes a tracer, and compares exits, as on 3; the other 36 of its tests pass on 4",
  "packages/testing/test/support/realStorage.ts": "it starts an object store that is not beside the line",
  "packages/testing/test/integration/RealStorage.test.ts": "it starts an object store that is not beside the line",
  "packages/testing/test/integration/Sockets.test.ts":
    "a body without a length is sent in another way by the client of 4",
  "packages/core/test/laws/decisions.test.ts": "its table compares errors as text, in which 4 puts the tag first"
}
