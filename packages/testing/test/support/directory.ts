import { Effect } from "effect"
import * as Fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** An empty directory that goes with the scope. */
export const directory = Effect.acquireRelease(
  Effect.promise(() => Fs.mkdtemp(join(tmpdir(), "stevedore-"))),
  (path) => Effect.promise(() => Fs.rm(path, { recursive: true, force: true }))
)
