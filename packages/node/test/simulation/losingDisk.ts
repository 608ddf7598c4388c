import { Error as PlatformError, FileSystem } from "@effect/platform"
import { Effect, Option } from "effect"

/** A source of randomness, the same for the same seed. */
export interface Dice {
  /** A whole number from 0, below this one. */
  readonly below: (count: number) => number
  readonly chance: (probability: number) => boolean
}

/** Mulberry32. */
export const dice = (seed: number): Dice => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return { below: (count) => Math.floor(next() * count), chance: (probability) => next() < probability }
}

interface FileNode {
  readonly kind: "File"
  bytes: Buffer
  /** What is on the disk for certain. */
  synced: Buffer
  /** What was written since. */
  unsynced: Array<{ readonly at: number; readonly bytes: Buffer }>
}

interface FolderNode {
  readonly kind: "Directory"
  readonly names: Map<string, Node>
}

type Node = FileNode | FolderNode

/** A change of names, in one step, of one folder or of two. */
interface Change {
  readonly edits: ReadonlyArray<{ readonly folder: FolderNode; readonly name: string; readonly node: Node | undefined }>
  synced: boolean
}

const folder = (): FolderNode => ({ kind: "Directory", names: new Map() })

const file = (bytes: Buffer = Buffer.alloc(0)): FileNode => ({ kind: "File", bytes, synced: bytes, unsynced: [] })

const written = (before: Buffer, at: number, bytes: Buffer): Buffer => {
  const after = Buffer.alloc(Math.max(before.byteLength, at + bytes.byteLength))
  before.copy(after)
  bytes.copy(after, at)
  return after
}

const segmentsOf = (path: string): ReadonlyArray<string> => path.split("/").filter((segment) => segment !== "")

/** How a disk keeps its promises: one that lies about a sync is for the proof that such a one is found out. */
export type Honesty = "honest" | "lies about content" | "lies about names"

/** What a disk is after a power failure, and what was on it before. */
export interface Disk {
  readonly fileSystem: FileSystem.FileSystem
  /** Looks at the disk without bringing the power failure nearer. */
  readonly unfailing: <A, E, R>(look: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** The disk after the power came back: what was not synced is there, torn, zeroed or lost, in any order. */
  readonly afterPowerCut: () => Disk
}

/** A file system in memory whose power fails at an operation. That one may be carried out; nobody learns of it. */
export const make = (options: {
  readonly dice: Dice
  readonly cutAt: number
  readonly honesty?: Honesty
  readonly root?: FolderNode
  readonly boot?: number
}): Disk => {
  const { boot = 1, cutAt, dice, honesty = "honest", root = folder() } = options
  const changes: Array<Change> = []
  let operations = 0
  let counts = true

  const failure = (reason: PlatformError.SystemErrorReason, path: string) =>
    new PlatformError.SystemError({ reason, module: "FileSystem", method: "any", pathOrDescriptor: path })

  const find = (segments: ReadonlyArray<string>): Node | undefined =>
    segments.reduce<Node | undefined>(
      (node, segment) => node?.kind === "Directory" ? node.names.get(segment) : undefined,
      root
    )

  const at = (path: string): Node => {
    const node = find(segmentsOf(path))
    if (node === undefined) throw failure("NotFound", path)
    return node
  }

  const placeOf = (path: string) => {
    const segments = segmentsOf(path)
    const parent = find(segments.slice(0, -1))
    if (parent?.kind !== "Directory") throw failure("NotFound", path)
    return { folder: parent, name: segments.at(-1) ?? "" }
  }

  const change = (...edits: Change["edits"]): void => {
    for (const { folder, name, node } of edits) {
      if (node === undefined) folder.names.delete(name)
      else folder.names.set(name, node)
    }
    changes.push({ edits, synced: false })
  }

  const append = (node: FileNode, bytes: Uint8Array): void => {
    const own = Buffer.from(bytes)
    node.unsynced.push({ at: node.bytes.byteLength, bytes: own })
    node.bytes = written(node.bytes, node.bytes.byteLength, own)
  }

  const sync = (node: Node): void => {
    if (node.kind === "File") {
      if (honesty === "lies about content") return
      node.synced = node.bytes
      node.unsynced = []
    } else if (honesty !== "lies about names") {
      for (const one of changes) {
        if (one.edits.some((edit) => edit.folder === node)) one.synced = true
      }
    }
  }

  const openedFor = (path: string, flag: string): Node => {
    const node = find(segmentsOf(path))
    if (flag === "r") return at(path)
    if (flag === "wx" && node !== undefined) throw failure("AlreadyExists", path)
    if (node !== undefined) return node
    const made = file()
    change({ ...placeOf(path), node: made })
    return made
  }

  const makeFolders = (path: string): void => {
    segmentsOf(path).reduce<Node>((parent, name) => {
      if (parent.kind !== "Directory") throw failure("BadResource", path)
      const there = parent.names.get(name)
      if (there !== undefined) return there
      const made = folder()
      change({ folder: parent, name, node: made })
      return made
    }, root)
  }

  // others go on while one waits for the disk
  const operation = <A>(run: () => A): Effect.Effect<A, PlatformError.PlatformError> =>
    Effect.zipRight(
      Effect.yieldNow(),
      Effect.suspend(() => {
        const done = Effect.try({
          try: run,
          catch: (error) => error instanceof PlatformError.SystemError ? error : failure("Unknown", String(error))
        })
        if (!counts) return done
        operations += 1
        if (operations > cutAt || (operations === cutAt && dice.chance(0.5))) return Effect.interrupt
        return operations === cutAt ? Effect.zipRight(Effect.ignore(done), Effect.interrupt) : done
      })
    )

  const info = (node: Node): FileSystem.File.Info => ({
    type: node.kind,
    // nothing is so old that it is forgotten
    mtime: Option.some(new Date()),
    atime: Option.none(),
    birthtime: Option.none(),
    dev: 1,
    ino: Option.none(),
    mode: node.kind === "Directory" ? 0o700 : 0o600,
    nlink: Option.some(1),
    uid: Option.fromNullable(process.geteuid?.()),
    gid: Option.none(),
    rdev: Option.none(),
    size: FileSystem.Size(node.kind === "File" ? node.bytes.byteLength : 0),
    blksize: Option.none(),
    blocks: Option.none()
  })

  const notUsed = Effect.die("not used by a ledger")

  const opened = (node: Node): FileSystem.File => ({
    [FileSystem.FileTypeId]: FileSystem.FileTypeId,
    fd: FileSystem.FileDescriptor(3),
    stat: operation(() => info(node)),
    sync: operation(() => sync(node)),
    writeAll: (bytes) => operation(() => node.kind === "File" ? append(node, bytes) : undefined),
    seek: () => notUsed,
    read: () => notUsed,
    readAlloc: () => notUsed,
    truncate: () => notUsed,
    write: () => notUsed
  })

  // each start of the machine has its own id, so the processes of the one before are dead
  const ofMachine = (path: string): Effect.Effect<string> =>
    Effect.succeed(path.endsWith("boot_id") ? `boot ${boot}` : `1 (node) S ${"0 ".repeat(18)}77`)

  const text = (path: string): string => {
    const node = at(path)
    if (node.kind !== "File") throw failure("BadResource", path)
    return node.bytes.toString()
  }

  const fileSystem = FileSystem.makeNoop({
    open: (path, { flag = "r" } = {}) => operation(() => opened(openedFor(path, flag))),
    stat: (path) => operation(() => info(at(path))),
    readDirectory: (path) =>
      operation(() => {
        const node = at(path)
        if (node.kind !== "Directory") throw failure("BadResource", path)
        return [...node.names.keys()]
      }),
    readFileString: (path) => path.startsWith("/proc/") ? ofMachine(path) : operation(() => text(path)),
    readFile: (path) => operation(() => Buffer.from(text(path))),
    makeDirectory: (path) => operation(() => makeFolders(path)),
    writeFileString: (path, content, { flag = "w" } = {}) =>
      operation(() => {
        const node = openedFor(path, flag)
        if (node.kind === "File") append(node, Buffer.from(content))
      }),
    rename: (from, to) =>
      operation(() => {
        const node = at(from)
        change({ ...placeOf(to), node }, { ...placeOf(from), node: undefined })
      }),
    link: (from, to) =>
      operation(() => {
        if (find(segmentsOf(to)) !== undefined) throw failure("AlreadyExists", to)
        change({ ...placeOf(to), node: at(from) })
      }),
    remove: (path, { force = false } = {}) =>
      operation(() => {
        if (find(segmentsOf(path)) === undefined) {
          if (force) return
          throw failure("NotFound", path)
        }
        change({ ...placeOf(path), node: undefined })
      }),
    utimes: () => operation(() => undefined)
  })

  // Any of these, for each write by itself, whatever was written after it.
  const surviving = (node: FileNode): Buffer =>
    node.unsynced.reduce((bytes, { at, bytes: own }) => {
      switch (dice.below(4)) {
        case 0:
          return bytes
        case 1:
          return written(bytes, at, own)
        case 2:
          return written(bytes, at, own.subarray(0, dice.below(own.byteLength + 1)))
        default:
          return written(bytes, at, Buffer.alloc(own.byteLength))
      }
    }, node.synced)

  const afterPowerCut = (): Disk => {
    // some file systems keep the order of changes, and others do not
    const ordered = dice.chance(0.5)
    const end = dice.below(changes.length + 1)
    const kept = changes.filter(({ synced }, index) => synced || (ordered ? index < end : dice.chance(0.5)))
    const names = new Map<FolderNode, Map<string, Node>>()
    const before = new Map<FolderNode, ReadonlyMap<string, Node>>(initial)
    for (const { edits } of kept) {
      for (const { folder, name, node } of edits) {
        const own = names.get(folder) ?? new Map(before.get(folder))
        names.set(folder, own)
        if (node === undefined) own.delete(name)
        else own.set(name, node)
      }
    }
    const seen = new Map<Node, Node>()
    const recovered = (node: Node): Node => {
      const there = seen.get(node)
      if (there !== undefined) return there
      if (node.kind === "File") {
        const whole = file(surviving(node))
        seen.set(node, whole)
        return whole
      }
      const made = folder()
      seen.set(node, made)
      for (const [name, child] of names.get(node) ?? before.get(node) ?? []) made.names.set(name, recovered(child))
      return made
    }
    const next = recovered(root)
    return make({
      ...options,
      boot: boot + 1,
      cutAt: 1 + dice.below(cutAt * 2),
      root: next.kind === "Directory" ? next : folder()
    })
  }

  const initial: Array<readonly [FolderNode, ReadonlyMap<string, Node>]> = []
  const remember = (node: Node): void => {
    if (node.kind !== "Directory") return
    initial.push([node, new Map(node.names)])
    for (const child of node.names.values()) remember(child)
  }
  remember(root)

  return {
    fileSystem,
    unfailing: (look) =>
      Effect.acquireUseRelease(
        Effect.sync(() => void (counts = false)),
        () => look,
        () => Effect.sync(() => void (counts = true))
      ),
    afterPowerCut
  }
}
