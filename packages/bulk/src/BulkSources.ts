/** Where the files of a job are: what a manifest lists, and how a runner finds each again, on whichever machine. */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Transport from "@stevedore/core/parts/transport"
import * as ServiceConfig from "@stevedore/core/ServiceConfig"
import type { SourceError } from "@stevedore/core/SourceError"
import { InvalidSource, SourceUnreadable } from "@stevedore/core/SourceError"
import type { UploadSource } from "@stevedore/core/UploadSource"
import * as FileSource from "@stevedore/node/FileSource"
import * as HttpSource from "@stevedore/node/HttpSource"
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as EffectRecord from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { createReadStream } from "node:fs"
import { realpath } from "node:fs/promises"
import { join, relative, resolve, sep } from "node:path"
import { hostQueue } from "./jobs/statements.js"

/**
 * A file of a manifest.
 *
 * @category models
 */
export const Entry = Schema.Struct({
  /** With slashes, relative to the root of the job. It is the file's name for the service, and its identity in the job. */
  path: Schema.NonEmptyString,
  /** In bytes, for the job's sums; what is sent is what the file has when it is sent. Defaults to 0: unknown. */
  size: Schema.optionalWith(Schema.NonNegativeInt, { default: () => 0 }),
  /** Defaults to the type of the extension. */
  mediaType: Schema.optional(Schema.NonEmptyString),
  /** Its date, in any form: a later submit takes a file of the same size and another date for another one. */
  modified: Schema.optional(Schema.String),
  /** What else its file system knows: if only this is another one, the checksum of what was uploaded decides. */
  changed: Schema.optional(Schema.String)
}).annotations({ identifier: "BulkEntry" })

/**
 * A file of a manifest.
 *
 * @category models
 */
export interface Entry extends Schema.Schema.Type<typeof Entry> {}

/**
 * What a job uploads. `queue` names what a runner must have to find the files: a job whose mount or machine no runner
 * has waits until one does.
 *
 * @category models
 */
export interface Manifest<E = never, R = never> {
  readonly queue: (job: string) => string
  /** Where the files are, in the terms of the queue, such as the root of a directory. */
  readonly location: string
  /** The files, read once, when the job is loaded. */
  readonly entries: Stream.Stream<Entry, E, R>
  /** Done at each submit, also of a job that is already there. */
  readonly prepare: (job: string) => Effect.Effect<void, E, R>
}

/**
 * A file of a job that a runner is to upload.
 *
 * @category models
 */
export interface BulkFile {
  readonly job: string
  readonly queue: string
  readonly location: string
  readonly path: string
  readonly mediaType: string | undefined
}

/**
 * How a runner finds the files of a queue.
 *
 * @category models
 */
export interface Service {
  /** The queues whose files this process can read. */
  readonly queues: Effect.Effect<ReadonlyArray<string>>
  readonly open: (file: BulkFile) => Effect.Effect<UploadSource, SourceError>
  /** The directory of this machine that has the files of a job; undefined if none has. */
  readonly directory: (job: Pick<BulkFile, "queue" | "location">) => string | undefined
  /** Keeps sources of a job in memory, beside those that it has, for {@link fromIterable}. */
  readonly hold: (job: string, sources: ReadonlyMap<string, UploadSource>) => Effect.Effect<void>
}

/**
 * What this process can read.
 *
 * @category tags
 */
export class BulkSources extends Context.Tag("@stevedore/bulk/BulkSources")<BulkSources, Service>() {}

/**
 * What a machine has.
 *
 * @category models
 */
export interface Options {
  /** Whether jobs of a directory without a host or mount may run here. Only if every runner has the same directories. */
  readonly directories?: boolean | undefined
  /** The root of each mount on this machine. */
  readonly mounts?: Readonly<Record<string, string>> | undefined
  /** The name of this machine, for the jobs that are pinned to it. */
  readonly host?: string | undefined
}

/**
 * What a machine has, and which web servers it may read from.
 *
 * @category models
 */
export interface HttpOptions extends Options {
  /**
   * By origin, such as `https://archive.example.org`, the headers that are sent there, such as `Authorization`. They are
   * never in the database.
   */
  readonly origins: Readonly<Record<string, Redacted.Redacted<Readonly<Record<string, string>>>>>
}

const directories = "directory"
const mountQueue = (mount: string): string => `mount:${mount}`
const originQueue = (origin: string): string => `http:${origin}`
const heldQueue = (job: string): string => `process:${job}`

/** The file's identity is that of the job and its path: another machine, mount or copy continues the same session. */
const identityOf = ({ job, path }: BulkFile): string => JSON.stringify([job, path])

const outside = (path: string): boolean =>
  path.startsWith("/") || path.split(/[/\\]/).some((segment) => segment === "..") || path.includes("\0")

const strayed = ({ path }: BulkFile, expected: string) => new InvalidSource({ fileName: path, field: "name", expected })

// Where a row says that its files are may be a stranger's word
const inRoot = (root: string, file: BulkFile): Effect.Effect<UploadSource, SourceError> =>
  outside(file.path)
    ? strayed(file, "a path within the root of its job")
    : Effect.tryPromise({
      try: () => Promise.all([realpath(root), realpath(join(root, file.location))]),
      catch: () => new SourceUnreadable({ fileName: file.path, reason: "NotFound" })
    }).pipe(
      Effect.filterOrFail(
        ([root, within]) => within === root || within.startsWith(root.endsWith(sep) ? root : `${root}${sep}`),
        () => strayed(file, "a job whose root is within that of its mount, also by its links")
      ),
      Effect.flatMap(([, within]) =>
        FileSource.fromEntry(
          { name: file.path, path: join(within, file.path), within },
          { identity: identityOf(file), mediaType: file.mediaType }
        )
      )
    )

const refusals: Readonly<Record<number, SourceUnreadable["reason"]>> = {
  401: "PermissionDenied",
  403: "PermissionDenied",
  404: "NotFound",
  410: "NotFound"
}

// No segment can be taken for a way out of the base, and none begins a query
const urlOf = ({ location, path }: BulkFile): string =>
  `${location}${path.split("/").map(encodeURIComponent).join("/")}`

const isOf = (origin: string, url: string): boolean => URL.canParse(url) && new URL(url).origin === origin

const fromOrigin = (origin: string, headers: HttpSource.WebFile["headers"]) =>
(
  file: BulkFile
): Effect.Effect<UploadSource, SourceError, HttpClient.HttpClient> =>
  outside(file.path)
    ? strayed(file, "a path within the base of its job")
    : !isOf(origin, urlOf(file))
    ? strayed(file, `a job whose base is of ${origin}`)
    : HttpSource.make({ url: Redacted.make(urlOf(file)), headers }, {
      name: file.path,
      mediaType: file.mediaType,
      identity: identityOf(file)
    }).pipe(
      Effect.mapError(({ status }) =>
        new SourceUnreadable({
          fileName: file.path,
          reason: refusals[status ?? 0] ?? "Failed",
          code: status === undefined ? undefined : `HTTP ${status}`
        })
      ),
      Effect.filterOrFail(
        // whoever takes over has to read it again, and must not mix two versions
        ({ _tag }) => _tag === "RepeatableSource",
        () => new SourceUnreadable({ fileName: file.path, reason: "ReadOnce" })
      )
    )

type Open = Service["open"]

const makeWith = (options: Options, others: ReadonlyMap<string, Open>): Effect.Effect<Service> =>
  Effect.sync(() => {
    const held = new Map<string, ReadonlyMap<string, UploadSource>>()
    const inMemory: Open = (file) => {
      const source = held.get(file.job)?.get(file.path)
      return source === undefined
        ? new SourceUnreadable({ fileName: file.path, reason: "NotFound" })
        : Effect.succeed({ ...source, fingerprint: { ...source.fingerprint, identity: identityOf(file) } })
    }
    const roots = new Map<string, string>([
      ...(options.directories === true ? [[directories, "/"] as const] : []),
      ...(options.host === undefined ? [] : [[hostQueue(options.host), "/"] as const]),
      ...Object.entries(options.mounts ?? {}).map(([mount, root]) => [mountQueue(mount), resolve(root)] as const)
    ])
    const opens = new Map<string, Open>([
      ...Array.from(roots, ([queue, root]): [string, Open] => [queue, (file) => inRoot(root, file)]),
      ...others
    ])
    return {
      queues: Effect.sync(() => [...opens.keys(), ...Array.from(held.keys(), heldQueue)]),
      open: (file) => (opens.get(file.queue) ?? inMemory)(file),
      directory: ({ location, queue }) => {
        const root = roots.get(queue)
        return root === undefined ? undefined : join(root, location)
      },
      hold: (job, sources) => Effect.sync(() => void held.set(job, new Map([...held.get(job) ?? [], ...sources])))
    }
  })

/**
 * What a machine with these options can read, besides what it holds in memory.
 *
 * @category constructors
 */
export const make = (options: Options): Effect.Effect<Service> => makeWith(options, new Map())

/**
 * For one machine, or several with the same directories: it reads directories by their absolute paths.
 *
 * @category layers
 */
export const layerDirectory: Layer.Layer<BulkSources> = Layer.effect(BulkSources, make({ directories: true }))

/**
 * For several machines that have the same file system mounted, each at a root of its own.
 *
 * @example
 * import { BulkSources } from "@stevedore/bulk"
 * import { Config } from "effect"
 *
 * const sources = BulkSources.layerMounted({ archive: Config.string("ARCHIVE_ROOT") })
 *
 * @category layers
 */
export const layerMounted = (
  mounts: Readonly<Record<string, Config.Config<string>>>
): Layer.Layer<BulkSources, ServiceConfig.InvalidConfiguration> =>
  Layer.effect(
    BulkSources,
    Effect.flatMap(
      Effect.all(EffectRecord.map(mounts, (config, name) =>
        ServiceConfig.required({ field: `mounts.${name}`, expected: "a directory", config }))),
      (roots) =>
        make({ mounts: roots })
    )
  )

/**
 * For the machine that has the disk: it runs the jobs that are pinned to it.
 *
 * @category layers
 */
export const layerLocal = (options: { readonly host: string }): Layer.Layer<BulkSources> =>
  Layer.effect(BulkSources, make(options))

/**
 * What a machine with these options can read, as a layer.
 *
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<BulkSources> => Layer.effect(BulkSources, make(options))

/**
 * For the files of web servers and object storage, which are read by ranges, by the `HttpClient` in force: see
 * {@link ranges}. The headers of an origin go to that origin alone: a redirect leads on without them. Fails with
 * `InvalidSource` if one of the origins is not one.
 *
 * @example
 * import { FetchHttpClient } from "@effect/platform"
 * import { BulkSources } from "@stevedore/bulk"
 * import { Layer, Redacted } from "effect"
 *
 * const sources = BulkSources.layerHttp({
 *   origins: { "https://archive.example.org": Redacted.make({ authorization: "Bearer ..." }) }
 * }).pipe(Layer.provide(FetchHttpClient.layer))
 *
 * @category layers
 */
export const layerHttp = (
  { origins, ...options }: HttpOptions
): Layer.Layer<BulkSources, InvalidSource, HttpClient.HttpClient> =>
  Layer.effect(
    BulkSources,
    Effect.gen(function*() {
      // one that follows them by itself would take the headers of an origin to another
      const client = Transport.withoutRedirects(yield* HttpClient.HttpClient)
      const opens = yield* Effect.forEach(Object.entries(origins), ([origin, headers]) =>
        URL.canParse(origin) && new URL(origin).origin === origin
          ? Effect.succeed<readonly [string, Open]>([
            originQueue(origin),
            (file) =>
              Effect.provideService(fromOrigin(origin, headers)(file), HttpClient.HttpClient, client)
          ])
          : new InvalidSource({
            fileName: origin,
            field: "name",
            expected: "an origin, such as https://archive.example.org"
          }))
      return yield* makeWith(options, new Map(opens))
    })
  )

/**
 * Who can read the files of a directory or of a manifest. By default, whoever has the same directories.
 *
 * @category models
 */
export type Place =
  | { readonly host?: undefined; readonly mount?: undefined }
  /** Only the machine of this name. */
  | { readonly host: string; readonly mount?: undefined }
  /** Whoever has this mount. The root of the job is then relative to that of the mount. */
  | { readonly host?: undefined; readonly mount: string }

const placed = (root: string, { host, mount }: Place) => ({
  queue: () => mount !== undefined ? mountQueue(mount) : host !== undefined ? hostQueue(host) : directories,
  location: mount === undefined ? resolve(root) : root,
  prepare: () => Effect.void
})

const withState = (root: string, entry: Entry): Effect.Effect<Entry> =>
  Effect.map(FileSource.stateAt(join(root, entry.path)), (state) => ({ ...entry, ...state }))

/**
 * The files of a directory of this machine, in the order of their names. Links are not followed. What cannot be read is
 * a file of the job that fails. With a mount, `root` is where this machine has it, and the job is its files.
 *
 * @example
 * import { Bulk, BulkSources } from "@stevedore/bulk"
 *
 * const program = Bulk.submit("archive-2026", BulkSources.directory("interviews", { recursive: true }))
 *
 * @category manifests
 */
export const directory = (
  root: string,
  options: FileSource.DirectoryOptions & Place = {}
): Manifest<SourceError> => ({
  ...placed(options.mount === undefined ? root : "", options),
  entries: Stream.mapEffect(
    FileSource.fromDirectory(root, { recursive: options.recursive }),
    ({ fingerprint, mediaType, name, size }) =>
      withState(root, { path: name, mediaType, size: fingerprint.kind === "refused" ? 0 : size }),
    { concurrency: 16 }
  )
})

/**
 * Files that a program names, under a root.
 *
 * @category manifests
 */
export const files = <E, R>(
  root: string,
  entries: Stream.Stream<typeof Entry.Encoded, E, R>,
  place: Place = {}
): Manifest<E, R> => ({
  ...placed(root, place),
  entries: Stream.map(entries, (entry) => ({ ...entry, size: entry.size ?? 0 }))
})

/**
 * The files that a manifest lists: one JSON object in each line, with `path`, and optionally `size` and `mediaType`. It
 * is read line by line, however long it is. A file that several
 * rows name, in whatever spelling, or by links, is uploaded once. A line that is not such an object fails with `InvalidSource` and names it.
 *
 * @category manifests
 */
export const manifest = (path: string, root: string, place: Place = {}): Manifest<SourceError> => ({
  ...placed(root, place),
  entries: linesOf(path).pipe(
    Stream.mapEffect(([line, number]) =>
      Effect.mapError(decodeLine(line), () =>
        new InvalidSource({
          fileName: `${path}, line ${number + 1}`,
          field: "name",
          expected: "a JSON object with a path, such as {\"path\":\"a.jpg\",\"size\":1024}"
        }))
    ),
    once(place.mount === undefined ? resolve(root) : undefined)
  )
})

// `a.txt` and `./a.txt` are one file, and so is a link to it
const realPath = (base: string | undefined, path: string): Effect.Effect<string> => {
  const plain = path.startsWith("/") ? path : path.split("/").filter((name) => name !== "" && name !== ".").join("/")
  if (base === undefined || outside(plain)) return Effect.succeed(plain)
  return Effect.tryPromise(() => Promise.all([realpath(base), realpath(join(base, plain))])).pipe(
    Effect.map(([base, real]) => relative(base, real).split(sep).join("/")),
    // what is not there, or not below the base, fails by its own name
    Effect.filterOrFail((path) => path !== "" && !outside(path)),
    Effect.orElseSucceed(() => plain)
  )
}

/** Each file once, as its first row names it. */
const once = (base: string | undefined) => <E>(entries: Stream.Stream<Entry, E>): Stream.Stream<Entry, E> =>
  Stream.suspend(() => {
    const seen = new Set<string>()
    return entries.pipe(
      Stream.mapEffect((entry) => Effect.map(realPath(base, entry.path), (path) => ({ ...entry, path })), {
        concurrency: 16
      }),
      Stream.filter(({ path }) => !seen.has(path) && seen.add(path).has(path)),
      Stream.mapEffect(
        (entry) => base === undefined || outside(entry.path) ? Effect.succeed(entry) : withState(base, entry),
        { concurrency: 16 }
      )
    )
  })

const isBase = (text: string): boolean => {
  if (!URL.canParse(text)) return false
  const { hash, password, protocol, search, username } = new URL(text)
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === ""
}

/**
 * Files of a web server or of object storage, below a base such as `https://archive.example.org/2026/`. A runner with
 * {@link layerHttp} for this origin reads them by ranges, with no byte on disk. A file is identified by its URL and its
 * etag: each range asks for that etag with `If-Match`, so that one that changes meanwhile fails with `SourceChanged`, and
 * the bytes of two versions are never mixed. Another machine goes on with its parts while the etag is the same, whatever
 * its server says of date and type, and starts over when it is not. A server without ranges or without strong etags fails
 * with `SourceUnreadable`.
 *
 * The base has no query, because the database would keep it: what opens the files is in the headers of the runners.
 *
 * @example
 * import { Bulk, BulkSources } from "@stevedore/bulk"
 * import { Stream } from "effect"
 *
 * const program = Bulk.submit(
 *   "archive-2026",
 *   BulkSources.ranges("https://archive.example.org/2026/", Stream.make({ path: "a/interview.wav", size: 4096 }))
 * )
 *
 * @category manifests
 */
export const ranges = <E, R>(
  base: string,
  entries: Stream.Stream<typeof Entry.Encoded, E, R>
): Manifest<E | InvalidSource, R> => {
  const url = isBase(base) ? new URL(base) : undefined
  return {
    queue: () => originQueue(url?.origin ?? ""),
    location: url === undefined ? "" : url.href.endsWith("/") ? url.href : `${url.href}/`,
    entries: Stream.map(entries, (entry) => ({ ...entry, size: entry.size ?? 0 })),
    prepare: () =>
      url !== undefined ? Effect.void : new InvalidSource({
        fileName: base,
        field: "name",
        expected: "a URL without user, query and fragment, such as https://archive.example.org/2026/"
      })
  }
}

const decodeLine = Schema.decode(Schema.parseJson(Entry))

const linesOf = (path: string): Stream.Stream<readonly [line: string, number: number], SourceUnreadable> =>
  Stream.suspend(() =>
    Stream.fromAsyncIterable<Buffer, SourceUnreadable>(
      createReadStream(path),
      () => new SourceUnreadable({ fileName: path, reason: "Failed" })
    )
  ).pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.zipWithIndex,
    Stream.filter(([line]) => line.trim() !== "")
  )

/**
 * Sources that this process has. Only this process can run the job; after a restart, submitting it again gives it the
 * sources again. The names of the sources must differ.
 *
 * @category manifests
 */
export const fromIterable = (sources: Iterable<UploadSource>): Manifest<never, BulkSources> => {
  const named = new Map(Array.from(sources, (source) => [source.name, source]))
  return {
    queue: heldQueue,
    location: "",
    entries: Stream.map(
      Stream.fromIterable(named.values()),
      ({ mediaType, name, size }) => ({ path: name, mediaType, size })
    ),
    prepare: (job) => Effect.flatMap(BulkSources, (service) => service.hold(job, named))
  }
}
