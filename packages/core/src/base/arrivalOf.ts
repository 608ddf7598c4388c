import * as Predicate from "effect/Predicate"
import { arrival, causes, systemCode } from "../ConnectionError.js"

/**
 * Whether a failed transport proves that the request never arrived: a client may know, otherwise its system error code
 * tells.
 */
export const arrivalOf = (error: unknown): "no" | "unknown" =>
  causes(error).some((cause) => Predicate.hasProperty(cause, "arrived") && cause.arrived === "no")
    ? "no"
    : arrival(systemCode(error))
