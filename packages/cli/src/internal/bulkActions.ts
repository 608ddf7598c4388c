/** What `stevedore bulk` does, and what each action takes besides a database. */

interface Action {
  /** Whether it is about a job. */
  readonly job: "needed" | "optional" | "none"
  /** Those of the command's own options that mean something to it. */
  readonly options: ReadonlyArray<string>
}

const running = ["--root", "--host", "--files", "--lease"]

export const actions = {
  start: {
    job: "needed",
    options: ["--recursive", "--manifest", "--mount", "--chunk", "--submit-only", ...running]
  },
  run: { job: "none", options: running },
  status: { job: "optional", options: ["--watch"] },
  failures: { job: "needed", options: [] },
  pause: { job: "needed", options: [] },
  resume: { job: "needed", options: [] },
  cancel: { job: "needed", options: [] },
  retry: { job: "needed", options: [] },
  forget: { job: "needed", options: [] },
  migrate: { job: "none", options: [] }
} satisfies Readonly<Record<string, Action>>

export type ActionName = keyof typeof actions

export const isAction = (name: string): name is ActionName => Object.hasOwn(actions, name)

const ofSome: ReadonlySet<string> = new Set(Object.values(actions).flatMap(({ options }): Array<string> => options))

export const isForAnother = (name: ActionName, option: string): boolean => {
  const { options }: Action = actions[name]
  return ofSome.has(option) && !options.includes(option)
}

export const jobOf = (name: ActionName): Action["job"] => actions[name].job
