/** What the word after an option is. */

/** The options that take no value. The library reads a word such as 1, y or no after one as its value. */
export const flags: ReadonlySet<string> = new Set([
  "--quiet",
  "-q",
  "--verbose",
  "-v",
  "--json",
  "--allow-insecure-http",
  "--no-resume",
  "--again",
  "--null",
  "-0",
  "--follow-links",
  "--skip-empty",
  "--dry-run",
  "--fail-fast",
  "--check",
  "--overwrite",
  "--force",
  "--any-size",
  "--keep",
  "--skip-invalid",
  "--recursive",
  "--submit-only",
  "--watch",
  "--print"
])

/** The library's own options that stand for themselves, and take no value either. */
export const alone: ReadonlySet<string> = new Set(["-h", "--help", "--version", "--wizard"])

/** Those that all commands take, or almost all: the word after one is never a command, whatever it says. */
export const withValues: ReadonlySet<string> = new Set(["--base-url", "--token-file", "--profile", "--config"])

/** The options whose value names a file or a directory. */
export const paths: ReadonlySet<string> = new Set([
  "--token-file",
  "--profile",
  "--config",
  "--output",
  "-o",
  "--resume",
  "--file",
  "--write-profile",
  "--directory",
  "--faults",
  "--files-from",
  "--source-headers",
  "--report",
  "--retry-failed",
  "--manifest",
  "--store"
])
