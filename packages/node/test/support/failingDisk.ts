import { Error as PlatformError, type FileSystem } from "@effect/platform"
import { Effect } from "effect"
import * as Fs from "node:fs/promises"
import * as OtherDisk from "./otherDisk.js"

/** What a disk does with an operation. */
export type Answer = "carry out" | { readonly refuse: string } | "die"

/** Says what a disk does with each of its operations, by their numbers from 1, and counts them. */
export interface Script {
  readonly next: () => Answer
  readonly count: () => number
}

/** One operation is refused. */
export const refusing = (code: string, at: number): Script =>
  scripted((number) => number === at ? { refuse: code } : "carry out")

/** From one operation on, nothing is carried out: what a process did to the disk that was killed there. */
export const dying = (at: number): Script => scripted((number) => number < at ? "carry out" : "die")

/** Nothing fails. */
export const healthy = (): Script => scripted(() => "carry out")

const scripted = (answer: (number: number) => Answer): Script => {
  let operations = 0
  return { next: () => answer(++operations), count: () => operations }
}

const failure = (code: string, path: string) =>
  new PlatformError.SystemError({
    reason: "Unknown",
    module: "FileSystem",
    method: "any",
    pathOrDescriptor: path,
    cause: OtherDisk.refusal(code)
  })

/** A file system over such a disk. A refused write has written half; a death ends its fiber. */
export const fileSystem = (fs: FileSystem.FileSystem, script: Script): FileSystem.FileSystem => {
  const on = <A, R>(
    path: string,
    whole: Effect.Effect<A, PlatformError.PlatformError, R>,
    half: Effect.Effect<void, PlatformError.PlatformError> = Effect.void
  ) =>
    Effect.suspend(() => {
      // what a system tells of its processes is on no disk
      const answer = path.startsWith("/proc/") ? "carry out" : script.next()
      if (answer === "carry out") return whole
      return answer === "die" ? Effect.interrupt : Effect.zipRight(half, Effect.fail(failure(answer.refuse, path)))
    })
  const gatedFile = (path: string, file: FileSystem.File): FileSystem.File =>
    new Proxy(file, {
      get: (own, name) =>
        name === "sync"
          ? on(path, own.sync)
          : name === "writeAll"
          ? (bytes: Uint8Array) =>
            on(path, own.writeAll(bytes), own.writeAll(bytes.subarray(0, Math.floor(bytes.byteLength / 2))))
          : Reflect.get(own, name, own)
    })
  return {
    ...fs,
    open: (path, options) => on(path, Effect.map(fs.open(path, options), (file) => gatedFile(path, file))),
    stat: (path) => on(path, fs.stat(path)),
    readDirectory: (path, options) => on(path, fs.readDirectory(path, options)),
    readFileString: (path, encoding) => on(path, fs.readFileString(path, encoding)),
    makeDirectory: (path, options) => on(path, fs.makeDirectory(path, options)),
    rename: (from, to) => on(from, fs.rename(from, to)),
    link: (from, to) => on(from, fs.link(from, to)),
    remove: (path, options) => on(path, fs.remove(path, options)),
    writeFileString: (path, text, options) =>
      on(
        path,
        fs.writeFileString(path, text, options),
        fs.writeFileString(path, text.slice(0, Math.floor(text.length / 2)), options)
      )
  }
}

const gate = (script: Script) => <A>(run: () => Promise<A>): Promise<A> => {
  const answer = script.next()
  return answer === "carry out"
    ? run()
    : Promise.reject(OtherDisk.refusal(answer === "die" ? "ENODEV" : answer.refuse))
}

const gated = (handle: Fs.FileHandle, script: Script): Fs.FileHandle => {
  const through = gate(script)
  const methods: ReadonlySet<string | symbol> = new Set([
    "stat",
    "sync",
    "datasync",
    "truncate",
    "read",
    "readFile",
    "write",
    "chmod"
  ])
  return new Proxy(handle, {
    get: (own, name) => {
      const value: unknown = Reflect.get(own, name, own)
      if (typeof value !== "function") return value
      return methods.has(name)
        ? (...args: ReadonlyArray<unknown>) => through<unknown>(() => Reflect.apply(value, own, args))
        : value.bind(own)
    }
  })
}

/** Lets `node:fs/promises` answer as such a disk, to every module, until the scope ends. */
export const answering = (script: Script) => {
  const { access, link, lstat, open, readdir, rename, rm, stat, writeFile } = Fs
  const through = gate(script)
  return OtherDisk.answering({
    access: (...args: Parameters<typeof access>) => through(() => access(...args)),
    link: (...args: Parameters<typeof link>) => through(() => link(...args)),
    lstat: (...args: Parameters<typeof lstat>) => through<unknown>(() => lstat(...args)),
    open: (...args: Parameters<typeof open>) => through(async () => gated(await open(...args), script)),
    readdir: (path: string) => through<unknown>(() => readdir(path)),
    rename: (...args: Parameters<typeof rename>) => through(() => rename(...args)),
    rm: (...args: Parameters<typeof rm>) => through(() => rm(...args)),
    stat: (...args: Parameters<typeof stat>) => through<unknown>(() => stat(...args)),
    writeFile: (...args: Parameters<typeof writeFile>) => through(() => writeFile(...args))
  })
}
