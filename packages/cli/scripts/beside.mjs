/** What a user may have beside the command line, and what is loaded only where it is asked for: it is not in the script. */
export const beside = [
  "@effect/experimental",
  "@stevedore/bulk",
  "@stevedore/server/NodeServe",
  "@stevedore/server/NodeProduction",
  "@stevedore/server/Sqlite",
  "@effect/opentelemetry",
  "@effect/sql",
  "libsql",
  "@effect/sql-pg"
]
