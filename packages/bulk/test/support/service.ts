import { HttpObjectStorage, ServiceApi, ServiceConfig } from "@stevedore/core"
import { Sandbox, SandboxHttp, SandboxLayer } from "@stevedore/testing"
import { Effect, Layer, Logger, LogLevel } from "effect"
import { answeredRightly } from "./skew.js"

/** The service of a test, with parts of a few bytes. What dies here on purpose is not worth a line. */
export const service = (options: SandboxLayer.Options = {}) => {
  const whole = { minimumPartSize: 5, recommendedPartSize: 10, ...options }
  const config = Layer.unwrapEffect(
    Effect.map(
      Sandbox.Sandbox,
      ({ baseUrl, token }) =>
        ServiceConfig.layer({ baseUrl, token, profile: SandboxLayer.profileOf(whole), allowInsecureHttp: true })
    )
  )
  // the same layers as the sandbox has, but over another client
  return Layer.fresh(Layer.merge(ServiceApi.layer, HttpObjectStorage.layer)).pipe(
    Layer.provide(Layer.merge(config, answeredRightly(SandboxHttp.layerClient))),
    Layer.provideMerge(SandboxLayer.memory(whole)),
    Layer.merge(Logger.minimumLogLevel(LogLevel.None))
  )
}
