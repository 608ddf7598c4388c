import type * as SqlClient from "@effect/sql/SqlClient"

/** Lets each statement of a connection wait for others that write, such as a command that makes a token. @internal */
export const waitingForOthers = (sql: SqlClient.SqlClient) => sql.unsafe("pragma busy_timeout = 5000")
