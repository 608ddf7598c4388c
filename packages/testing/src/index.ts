export * as Arbitraries from "./Arbitraries.js"

export * as Connection from "./Connection.js"

export * as Exchange from "./Exchange.js"

export * as Expectation from "./Expectation.js"

export * as Fault from "./Fault.js"

export * as FaultRule from "./FaultRule.js"

export * as FaultScript from "./FaultScript.js"

export * as FaultSentence from "./FaultSentence.js"

export * as ObjectStore from "@stevedore/server/ObjectStore"

export * as ObjectStoreDirectory from "@stevedore/server/ObjectStoreDirectory"

export * as ObjectStoreMemory from "@stevedore/server/parts/objectStoreMemory"

export * as Recorder from "./Recorder.js"

export * as Sandbox from "./Sandbox.js"

export * as SandboxHttp from "./SandboxHttp.js"

export * as SandboxLayer from "./SandboxLayer.js"

export * as SandboxOptions from "./SandboxOptions.js"

export * as SandboxReport from "./SandboxReport.js"

export * as VirtualTime from "./VirtualTime.js"
