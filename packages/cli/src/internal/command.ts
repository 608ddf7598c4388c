import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Span from "@effect/cli/HelpDoc/Span"
import * as Effect from "effect/Effect"
import * as Arguments from "../Arguments.js"
import * as Shared from "../Shared.js"

/** What a command does with its options, loaded when the command runs. */
export const runs =
  <Options, A, E, R>(load: () => Promise<(options: Options) => Effect.Effect<A, E, R>>) =>
  (given: Options & Shared.Given) => Shared.apply(given, Effect.flatMap(Effect.promise(load), (run) => run(given)))

/** The description of a command, with examples. */
export const describe = (what: string, ...examples: ReadonlyArray<string>): HelpDoc.HelpDoc =>
  HelpDoc.blocks([HelpDoc.p(what), ...examples.map((example) => HelpDoc.p(Span.code(`$ ${example}`)))])

export const fileId = Arguments.text("FILE_ID", "Id of a file at the service")
