import * as ExitCode from "../print/exitCode.js"

/** What became of one thing that a run was given. */
export type Standing =
  /** It was done in this run. */
  | { readonly _tag: "Done" }
  /** It was there before, which something proves. */
  | { readonly _tag: "There" }
  | { readonly _tag: "Failed"; readonly error: { readonly _tag: string } }

/** How many of what a run was given stand how. Their sum is what it was given. */
export interface Counts {
  readonly done: number
  readonly there: number
  readonly failed: number
  readonly notTried: number
}

/**
 * Whatever a run was given has exactly one outcome: done, there, failed, or not tried. Its summary, its report and its exit
 * code follow from here, so that none of them can leave one out.
 */
export interface Standings<Input> {
  /** The first outcome counts: an input has no second one. */
  readonly settle: (input: Input, standing: Standing) => void
  readonly counts: () => Counts
  /** What has no outcome yet, in the order in which it was given. */
  readonly notTried: () => ReadonlyArray<Input>
  /** 0 only if each is done or there. */
  readonly exitCode: () => number
}

// What is wrong with a file before anything is asked: the same command would find it again
const ofInput = new Set(["EmptySource", "InvalidSource", "InvalidPartCount", "InvalidUploadOption", "SizeExceeded"])

const unreadable = new Set<unknown>(["NotFound", "Directory", "NotAFile", "PermissionDenied"])

const isOfInput = (error: { readonly _tag: string; readonly reason?: unknown }): boolean =>
  ofInput.has(error._tag) || (error._tag === "SourceUnreadable" && unreadable.has(error.reason))

/** The exit code of a run in which these failed, and so many were not tried. */
export const exitCode = (
  failures: ReadonlyArray<{ readonly _tag: string; readonly reason?: unknown }>,
  notTried: number
): number => {
  if (failures.length + notTried === 0) return ExitCode.ok
  if (failures.some(({ _tag }) => _tag === "Unauthorized")) return ExitCode.unauthorized
  return failures.length > 0 && failures.every(isOfInput) ? ExitCode.usage : ExitCode.failed
}

export const make = <Input>(inputs: Iterable<Input>): Standings<Input> => {
  const standings = new Map<Input, Standing | undefined>(Array.from(inputs, (input) => [input, undefined]))
  const failures: Array<{ readonly _tag: string }> = []
  const counted = { Done: 0, There: 0, Failed: 0 }
  const notTried = () => [...standings].flatMap(([input, standing]) => standing === undefined ? [input] : [])
  const left = () => standings.size - counted.Done - counted.There - counted.Failed
  return {
    settle: (input, standing) => {
      if (!standings.has(input) || standings.get(input) !== undefined) return
      standings.set(input, standing)
      counted[standing._tag] += 1
      if (standing._tag === "Failed") failures.push(standing.error)
    },
    counts: () => ({ done: counted.Done, there: counted.There, failed: counted.Failed, notTried: left() }),
    notTried,
    exitCode: () => exitCode(failures, left())
  }
}
