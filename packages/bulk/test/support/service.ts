import { SandboxLayer } from "@stevedore/testing"
import { Layer, Logger, LogLevel } from "effect"

/** The service of a test, with parts of a few bytes. What dies here on purpose is not worth a line. */
export const service = (options: SandboxLayer.Options = {}) =>
  Layer.merge(
    SandboxLayer.memory({ minimumPartSize: 5, recommendedPartSize: 10, ...options }),
    Logger.minimumLogLevel(LogLevel.None)
  )
