import { KeyValueStore } from "@effect/platform"
import { Checkpoints, Lists } from "@stevedore/core"
import { Effect, Option, Schema, Stream } from "effect"

export const everyProject = Lists.projects({ sort: "title:asc" })
export const firstTen = Lists.projects({ title: { contains: "interview" } }).pipe(Stream.take(10), Stream.runCollect)
export const pageByPage = Lists.projects.pages({ pageSize: 50 })

/** Walks all projects. If the previous night was interrupted, it continues after the last project that was finished. */
export const nightly = Effect.gen(function*() {
  const store = (yield* KeyValueStore.KeyValueStore).forSchema(Checkpoints.Checkpoint)
  const from = yield* store.get("projects")
  yield* Lists.projects.marked({ from: Option.getOrUndefined(from) }).pipe(
    Stream.runForEach(({ at, item }) => Effect.zipRight(Effect.log(item.title), store.set("projects", at)))
  )
  // the walk is complete: the next night starts over
  yield* store.remove("projects").pipe(Effect.whenEffect(store.has("projects")))
})

// any other list of the service, with your own Schema
const Template = Schema.Struct({ id: Schema.String, title: Schema.String })
export const templates = Lists.make({ path: "/v1/projects/templates", item: Template })
