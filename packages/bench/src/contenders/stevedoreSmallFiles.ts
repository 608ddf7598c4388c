/** `<base URL> <folder> <count> <files at once> [none]`: many small files, with the ledger or without. Writes the seconds. */
import * as Uploads from "@stevedore/core/Uploads"
import * as FileSource from "@stevedore/node/FileSource"
import * as NodeStevedore from "@stevedore/node/NodeStevedore"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { join } from "node:path"

const [baseUrl, folder = "", count = "1", files = "16", ledger] = process.argv.slice(2)

const before = performance.now()

const failed = await Stream.range(1, Number(count)).pipe(
  Stream.mapEffect((number) => FileSource.fromPath(join(folder, `${number}.bin`))),
  (sources) => Uploads.uploadAll(sources, { files: Number(files) }),
  Stream.filter((outcome) => outcome._tag === "Failed"),
  Stream.runCount,
  Effect.provide(
    NodeStevedore.layer({
      baseUrl,
      token: Redacted.make("api.loopback"),
      ...(ledger === "none" ? { ledger: false } : {})
    })
  ),
  Effect.runPromise
)
process.stdout.write(String((performance.now() - before) / 1000))
process.exitCode = failed === 0 ? 0 : 1
