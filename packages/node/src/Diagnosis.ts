/**
 * Tries every step of an upload at a service, one after the other, and says of each what was found and what to do; finds out
 * by asking what a service's profile lacks.
 */
import type { HttpClient } from "@effect/platform/HttpClient"
import type { ServiceWithToken } from "@stevedore/core/ServiceConfig"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Checks from "./diagnosis/checks.js"
import * as Discovery from "./diagnosis/discovery.js"
import type { Draft } from "./diagnosis/prober.js"
import type { Check, CheckId, Found, LeftBehind, Needs, Problem } from "./diagnosis/trial.js"
import * as Trial from "./diagnosis/trial.js"
import type { HttpProxy } from "./HttpProxy.js"

export {
  /**
   * The name of a check.
   *
   * @category models
   */
  type CheckId,
  /**
   * The names of the checks, in their order.
   *
   * @category constants
   */
  checkIds,
  /**
   * What a trial left behind at the service: a `file` until it is deleted there, a `session` for about a day.
   *
   * @category models
   */
  type LeftBehind as Left,
  /**
   * What the checks use: the service, its storage, and a client without a token.
   *
   * @category models
   */
  type Needs,
  /**
   * Why a service cannot be asked, and what to do.
   *
   * @category models
   */
  type Problem
} from "./diagnosis/trial.js"

/**
 * What else to check: a file to upload later, and an origin of web pages.
 *
 * @category models
 */
export interface Extras extends Checks.Extras {}

/**
 * How a check ended. `warning`: it works, but may surprise later. `skipped`: it could not be tried, or was not asked for.
 *
 * @category models
 */
export interface Finding {
  readonly check: CheckId
  readonly title: string
  readonly outcome: "passed" | "warning" | "failed" | "skipped"
  readonly found: string
  /** What to do; empty if there is nothing to do. */
  readonly remedy: string
  /** Why, where a program can tell: the service rejects the token, or what the check needs was not given. */
  readonly because: "unauthorized" | "notGiven" | undefined
}

/**
 * A service to try.
 *
 * @category models
 */
export interface Service {
  readonly service: ServiceWithToken
  readonly proxy?: HttpProxy | undefined
}

const limit = "60 seconds"

const findingOf = (
  { id, title }: Pick<Check<never>, "id" | "title">,
  rest: Pick<Finding, "outcome" | "found" | "remedy"> & Partial<Pick<Finding, "because">>
): Finding => ({ check: id, title, because: undefined, ...rest })

const settled = <R>(check: Check<R>, found: Found): Effect.Effect<Finding, never, R> =>
  check.needs.some((name) => found[name] === undefined)
    ? Effect.succeed(
      findingOf(check, { outcome: "skipped", found: "skipped: a check that it depends on failed", remedy: "" })
    )
    : check.run(found).pipe(
      Effect.timeoutFail({ duration: limit, onTimeout: () => Trial.problem(`timed out after ${limit}`) }),
      Effect.match({
        onSuccess: ({ found: words, note = "", untried: isUntried = false }) =>
          findingOf(check, {
            outcome: isUntried ? "skipped" : note === "" ? "passed" : "warning",
            found: words,
            remedy: note,
            because: isUntried ? "notGiven" : undefined
          }),
        onFailure: ({ found: words, remedy = check.remedy, unauthorized = false }) =>
          findingOf(check, {
            outcome: "failed",
            found: words,
            remedy,
            because: unauthorized ? "unauthorized" : undefined
          })
      })
    )

const contentsFor = ({ profile }: ServiceWithToken) => ({
  singleContent: Trial.contentOf(1024),
  largeContent: Trial.contentOf(profile.limits.minimumPartSize + 1024)
})

/**
 * Tries every step, and gives each finding as it comes. A check that fails does not stop those that do not depend on it. Two
 * small files are sent, of 1 KiB and 5 MiB. What the trials leave behind is added to `left`, also where they are interrupted.
 *
 * @category constructors
 */
export const findings = (
  { proxy, service }: Service,
  extras: Extras,
  left: Array<LeftBehind>
): Stream.Stream<Finding, never, Needs> =>
  Stream.suspend(() => {
    const found: Found = { service, proxy, ...contentsFor(service), left }
    return Stream.mapEffect(Stream.fromIterable(Checks.all(extras)), (check) => settled(check, found))
  })

/**
 * The findings where no service can be tried.
 *
 * @category constructors
 */
export const untried = (extras: Extras, why: string): ReadonlyArray<Finding> =>
  Checks.all(extras).map((check) => findingOf(check, { outcome: "skipped", found: `skipped: ${why}`, remedy: "" }))

const steps: ReadonlySet<string> = new Set(["initiate", "single-put", "part-put", "complete", "download"])

/**
 * Whether a file can be uploaded: each step of it works.
 *
 * @category predicates
 */
export const isWorking = (findings: Iterable<Pick<Finding, "outcome"> & { readonly check: string }>): boolean =>
  Array.from(findings).every(({ check, outcome }) => !steps.has(check) || outcome === "passed" || outcome === "warning")

/**
 * What was found out about a service, as the fields of a profile, and what has to be asked for.
 *
 * @category models
 */
export interface FoundProfile extends Readonly<Draft> {}

/**
 * Finds out what the service needs that its profile does not say: it opens sessions and sends a few small files. What they
 * leave behind is added to `left`, also where it is interrupted.
 *
 * @category constructors
 */
export const searchProfile = (
  service: ServiceWithToken,
  left: Array<LeftBehind>
): Effect.Effect<FoundProfile, Problem, HttpClient> => Discovery.discover(service, { ...contentsFor(service), left })
