import * as SandboxServer from "@stevedore/cli/SandboxServer"
import type { SandboxOptions } from "@stevedore/testing"
import { Option } from "effect"

/** A sandbox over local sockets, for as long as the scope is open. */
export const sandbox = (behaviour: Omit<SandboxOptions.Options, "apiOrigin" | "storageOrigin"> = {}) =>
  SandboxServer.start(
    { port: 0, storagePort: 0, directory: Option.none(), token: Option.none(), projects: 0 },
    behaviour
  )
