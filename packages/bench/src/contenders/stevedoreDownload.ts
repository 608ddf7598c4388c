/** `<base URL> <file id> <target>`: one download to disk. */
import * as NodeDownloads from "@stevedore/node/NodeDownloads"
import * as NodeStevedore from "@stevedore/node/NodeStevedore"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

const [baseUrl, fileId = "", target = ""] = process.argv.slice(2)

await NodeDownloads.toFile(fileId, target, { overwrite: true }).pipe(
  Effect.provide(NodeStevedore.layer({ baseUrl, token: Redacted.make("api.loopback"), ledger: false })),
  Effect.runPromise
)
