/**
 * @since 0.1.0
 */
export * as Arbitraries from "./Arbitraries.js"

/**
 * @since 0.1.0
 */
export * as BlobStore from "@stevedore/server/BlobStore"

/**
 * @since 0.1.0
 */
export * as Connection from "./Connection.js"

/**
 * @since 0.1.0
 */
export * as Exchange from "./Exchange.js"

/**
 * @since 0.1.0
 */
export * as Expectation from "./Expectation.js"

/**
 * @since 0.1.0
 */
export * as Fault from "./Fault.js"

/**
 * @since 0.1.0
 */
export * as FaultRule from "./FaultRule.js"

/**
 * @since 0.1.0
 */
export * as FaultScript from "./FaultScript.js"

/**
 * @since 0.1.0
 */
export * as FaultSentence from "./FaultSentence.js"

/**
 * @since 0.1.0
 */
export * as ListResources from "@stevedore/server/ListResources"

/**
 * @since 0.1.0
 */
export * as ObjectStore from "@stevedore/server/ObjectStore"

/**
 * @since 0.1.0
 */
export * as ObjectStoreDirectory from "@stevedore/server/ObjectStoreDirectory"

/**
 * @since 0.1.0
 */
export * as ObjectStoreMemory from "@stevedore/server/ObjectStoreMemory"

/**
 * @since 0.1.0
 */
export * as Recorder from "./Recorder.js"

/**
 * @since 0.1.0
 */
export * as Sandbox from "./Sandbox.js"

/**
 * @since 0.1.0
 */
export * as SandboxHttp from "./SandboxHttp.js"

/**
 * @since 0.1.0
 */
export * as SandboxLayer from "./SandboxLayer.js"

/**
 * @since 0.1.0
 */
export * as SandboxOptions from "./SandboxOptions.js"

/**
 * @since 0.1.0
 */
export * as SandboxReport from "./SandboxReport.js"

/**
 * @since 0.1.0
 */
export * as ServiceVariation from "./ServiceVariation.js"

/**
 * @since 0.1.0
 */
export * as StorageRefused from "@stevedore/server/StorageRefused"

/**
 * @since 0.1.0
 */
export * as UrlSigner from "@stevedore/server/UrlSigner"

/**
 * @since 0.1.0
 */
export * as UrlVerifier from "@stevedore/server/UrlVerifier"

/**
 * @since 0.1.0
 */
export * as VirtualTime from "./VirtualTime.js"
