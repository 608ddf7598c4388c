// Atoms of Effect 3 over the sandbox: a list, and an upload that is watched.
import { Atom, Registry, Result } from "@effect-atom/atom"
import { Lists, UploadProgress, Uploads, UploadSources } from "@stevedore/core"
import { SandboxLayer } from "@stevedore/testing"
import { Effect, Stream } from "effect"

const runtime = Atom.runtime(SandboxLayer.memory({ projects: 3 }))
const projects = runtime.pull(Lists.projects())
const upload = runtime.fn((bytes) =>
  Stream.unwrapScoped(Effect.map(
    Uploads.start(UploadSources.fromBytes("notes.txt", bytes)),
    (handle) => Stream.map(Uploads.progressEvery(handle, "1 second"), UploadProgress.describe)
  ))
)

const registry = Registry.make()
registry.mount(projects)
registry.mount(upload)
registry.set(upload, new Uint8Array(100))

const isDone = () =>
  Result.isSuccess(registry.get(projects)) && Result.isSuccess(registry.get(upload)) &&
  !registry.get(upload).waiting

for (let tries = 0; tries < 200 && !isDone(); tries++) await new Promise((resolve) => setTimeout(resolve, 50))
console.log(registry.get(projects).value.items.length, registry.get(upload).value)
registry.dispose()
