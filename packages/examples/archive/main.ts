import { HttpApiBuilder, HttpMiddleware, HttpServer } from "@effect/platform"
import {
  NodeHttpServer,
  NodeKeyValueStore,
  NodeRuntime
} from "@effect/platform-node"
import { NodeStevedore } from "@stevedore/node"
import { Layer } from "effect"
import { createServer } from "node:http"
import { ArchiveLive } from "./Server.js"

HttpApiBuilder.serve(HttpMiddleware.logger).pipe(
  HttpServer.withLogAddress,
  Layer.provide(ArchiveLive),
  Layer.provide([
    NodeStevedore.layerConfig(),
    NodeKeyValueStore.layerFileSystem("recordings"),
    NodeHttpServer.layer(() => createServer(), { port: 8080 })
  ]),
  Layer.launch,
  NodeRuntime.runMain
)
