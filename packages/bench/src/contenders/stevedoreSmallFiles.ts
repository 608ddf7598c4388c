/** `<base URL> <folder> <count> <files at once>`: many small files, three requests each. */
import * as Uploads from "@stevedore/core/Uploads"
import * as FileSource from "@stevedore/node/FileSource"
import * as NodeStevedore from "@stevedore/node/NodeStevedore"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { join } from "node:path"

const [baseUrl, folder = "", count = "1", files = "16"] = process.argv.slice(2)

const failed = await Stream.range(1, Number(count)).pipe(
  Stream.mapEffect((number) => FileSource.fromPath(join(folder, `${number}.bin`))),
  Uploads.uploadAllWith({ files: Number(files) }),
  Stream.filter((outcome) => outcome._tag === "Failed"),
  Stream.runCount,
  Effect.provide(NodeStevedore.layer({ baseUrl, token: Redacted.make("api.loopback") })),
  Effect.runPromise
)
process.exitCode = failed === 0 ? 0 : 1
