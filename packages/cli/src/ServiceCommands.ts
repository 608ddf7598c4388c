/** What `stevedore token` and `stevedore bucket` accept, and the help about them. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Arguments from "./Arguments.js"
import { describe, runs } from "./internal/command.js"
import { programs } from "./internal/programs.js"

/** `stevedore token`. */
export const token = Command.make(
  "token",
  {
    action: Arguments.text("ACTION", "What to do: create, list, revoke"),
    id: Arguments.text("ID", "revoke: the id of the token, which list shows").pipe(Args.optional),
    tenant: Options.text("tenant").pipe(
      Options.withPseudoName("NAME"),
      Options.withDescription("create: whose files it sees, and no others. Default: default"),
      Options.optional
    ),
    owner: Options.text("owner").pipe(
      Options.withPseudoName("NAME"),
      Options.withDescription("create: who has it; files name it as their author. Default: owner"),
      Options.optional
    ),
    scopes: Options.text("scopes").pipe(
      Options.withPseudoName("NAMES"),
      Options.withDescription("create: what it allows, with a comma between: read, write. Default: both"),
      Options.optional
    ),
    days: Arguments.wholeNumber("days", { from: 1, to: 36_500 }).pipe(
      Options.withDescription("create: how long it is valid. Default: 30"),
      Options.optional
    ),
    directory: Options.text("directory").pipe(
      Options.withDescription(
        "Directory of a service without a database of its own. Default: stevedore-data, unless " +
          "STEVEDORE_SERVE_DATABASE_URL is set"
      ),
      Options.optional
    ),
    json: Arguments.json,
    ...Arguments.shared
  },
  runs(() => programs.token().then(({ run }) => run))
).pipe(Command.withDescription(describe(
  "Make, list and revoke the tokens of your own service. A token is shown once, when it is made",
  "stevedore token create --tenant acme --owner ann --scopes read,write --days 30",
  "stevedore token list",
  "stevedore token revoke 1kf00nQk9yfWKfsTDni8aO"
)))

/** `stevedore bucket`. */
export const bucket = Command.make(
  "bucket",
  {
    action: Arguments.text("ACTION", "What to do: setup, check"),
    origins: Options.text("origins").pipe(
      Options.withPseudoName("ORIGINS"),
      Options.withDescription(
        "Origins whose pages upload, with a comma between. Default: STEVEDORE_SERVE_ORIGINS, or none"
      ),
      Options.optional
    ),
    print: Options.boolean("print").pipe(
      Options.withDescription("setup: show the rules instead of writing them, to be written by other means")
    ),
    json: Arguments.json,
    ...Arguments.shared
  },
  runs(() => programs.bucket().then(({ run }) => run))
).pipe(Command.withDescription(describe(
  "Set up the bucket of your own service, or check it: the rule by which pages may send to it, the rule that ends what is " +
    "never completed, what keeps files from being replaced, and the rights of the credential. STEVEDORE_SERVE_BUCKET and " +
    "its companions name it, as for serve",
  "stevedore bucket setup --origins https://app.example",
  "stevedore bucket setup --origins https://app.example --print",
  "stevedore bucket check"
)))
