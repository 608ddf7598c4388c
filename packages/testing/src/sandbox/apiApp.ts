/** The service of a sandbox: `ServerApp` of `@stevedore/server`, with faults around it. */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type { ObserverService } from "@stevedore/server/Observer"
import * as ListResources from "@stevedore/server/parts/listResources"
import * as ServiceRefused from "@stevedore/server/ServiceRefused"
import type * as Connection from "../Connection.js"
import type * as Exchange from "../Exchange.js"
import type { Settings } from "../SandboxOptions.js"
import * as ExchangeRunner from "./exchangeRunner.js"
import type * as SandboxRecorder from "./recorder.js"
import * as Route from "./route.js"
import type { Call } from "./route.js"

const operations: Readonly<Record<Call, Exchange.Operation>> = {
  initiateUpload: "initiate",
  initiateLargeUpload: "initiateLarge",
  completeUpload: "complete",
  completeLargeUpload: "completeLarge",
  file: "file",
  download: "download",
  tokenInfo: "tokenInfo",
  importFile: "importFile",
  list: "list"
}

const describe = (
  settings: Settings
): (request: { readonly method: string; readonly url: string }) => ExchangeRunner.Described => {
  const resources = ListResources.withOthers(Object.keys(settings.lists))
  const names = Object.keys(resources).map((name) => name.split("/"))
  const isList = (path: string): boolean => {
    const wanted = path.slice(`${settings.apiBasePath}/v1/`.length).split("/")
    return names.some((name) =>
      name.length === wanted.length && name.every((part, index) => part === "{id}" || part === wanted[index])
    )
  }
  return (request) => {
    const route = Route.find(settings, request)
    if (route === undefined || (route.call === "list" && !isList(route.pathOf("")))) return { operation: "unknown" }
    return {
      operation: operations[route.call],
      fileId: route.fileId === "" ? undefined : route.fileId,
      continued: route.call === "list" && route.search.has("page[start_cursor]")
    }
  }
}

/**
 * The service as an app. It fails where a fault script breaks the connection.
 *
 * @category constructors
 */
export const make = (
  settings: Settings,
  recorder: SandboxRecorder.SandboxRecorder,
  app: HttpApp.Default,
  observer: (recording: SandboxRecorder.Recording) => ObserverService
): HttpApp.Default<Connection.ConnectionBroken> =>
  ExchangeRunner.make(
    settings,
    recorder,
    {
      name: "api",
      requestIdHeader: "x-request-id",
      app,
      observer,
      refuse: ({ code, retryAfter, status }) => {
        const refusal = ServiceRefused.fromStatus(status, code, retryAfter)
        return HttpServerResponse.unsafeJson({ errors: refusal.errors }, {
          status: refusal.status,
          headers: refusal.retryAfter === undefined ? {} : { "retry-after": refusal.retryAfter }
        })
      }
    },
    describe(settings)
  )
