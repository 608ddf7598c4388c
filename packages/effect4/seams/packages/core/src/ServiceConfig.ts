import type * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import type * as SchemaIssue from "effect/SchemaIssue"

const pathIn = (issue: SchemaIssue.Issue): ReadonlyArray<PropertyKey> =>
  issue._tag === "Pointer"
    ? [...issue.path, ...pathIn(issue.issue)]
    : "issue" in issue
    ? pathIn(issue.issue)
    : "issues" in issue
    ? issue.issues.slice(0, 1).flatMap(pathIn)
    : []

const pathOf = ({ cause }: Config.ConfigError): ReadonlyArray<PropertyKey> =>
  "issue" in cause ? pathIn(cause.issue) : []

// Only a Config that fails tells from which variable it reads: where nothing is set, each does
const variableOf = <A>(config: Config.Config<A>): Effect.Effect<string> =>
  Effect.match(Effect.andThen(config, config.parse(ConfigProvider.fromUnknown({}))), {
    onFailure: (error) => pathOf(error).map(String).join("_"),
    onSuccess: () => ""
  })
