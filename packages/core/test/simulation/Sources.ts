import { SourceError as SourceErrors, type UploadSource, UploadSources } from "@stevedore/core"
import type { OpenSource, RepeatableSource } from "@stevedore/core/UploadSource"
import { Effect, Stream } from "effect"
import type { SourceTrouble } from "./Faults.js"
import type { Version } from "./History.js"
import type { SourceCase } from "./Scenario.js"
import type { World } from "./World.js"

type Fingerprint = RepeatableSource["fingerprint"]

/** What goes to the socket without a detour, as an async iterable does on Node: chunks, one after the other. */
export class NativeContent {
  constructor(readonly next: () => Uint8Array | undefined | SourceErrors.SourceError) {}
}

const content = (size: number, seed: number): Uint8Array =>
  Uint8Array.from({ length: size }, (_, index) => (Math.imul(index + seed * 7919 + 1, 2_654_435_761) >>> 13) & 0xff)

interface Node {
  readonly identity: string
  modified: number
  content: Uint8Array
}

interface Use {
  pulled: number
  /** Bytes that storage has: nobody needs to hold them any more. */
  readonly confirmed: Map<string, number>
  handles: number
}

/** One source of a history, and what becomes of it. It outlives the process. */
export class SimulatedSource {
  private node: Node | undefined
  private isUnreadable = false
  private nodes = 0
  /** What each life has of it: bytes that it has read, those of them that storage has, and open handles. */
  private readonly use = new Map<number, Use>()

  constructor(private readonly world: World, readonly given: SourceCase, private readonly seed: number) {
    this.node = this.newNode(content(given.size, seed))
    this.remember(true, undefined)
  }

  private newNode(bytes: Uint8Array): Node {
    this.nodes++
    return { identity: `1:${this.seed * 100 + this.nodes}`, modified: this.world.now + this.nodes / 2, content: bytes }
  }

  private get versions(): Array<Version> {
    const { versions } = this.world.history
    const known = versions.get(this.given.name) ?? []
    versions.set(this.given.name, known)
    return known
  }

  private remember(isVisible: boolean, trouble: string | undefined): void {
    this.versions.push({
      ...this.world.moment(),
      content: this.node?.content ?? new Uint8Array(),
      isVisible,
      trouble
    })
  }

  /** Somebody else changes the file. */
  change(kind: SourceTrouble): void {
    const { node, world } = this
    if (node === undefined) return
    world.met(`source ${kind}`)
    const { size } = this.given
    const other = content(size, this.seed + 50)
    switch (kind) {
      case "truncated":
        node.content = node.content.slice(0, world.chance.whole(0, size - 1))
        break
      case "appended":
        node.content = Uint8Array.from([...node.content, 1, 2, 3])
        break
      case "replaced":
        this.node = this.newNode(other)
        break
      case "overwritten":
      case "overwritten unseen": {
        const from = world.chance.whole(0, size - 1)
        node.content = Uint8Array.from(node.content, (byte, index) => index < from ? byte : other[index] ?? 0)
        break
      }
      case "removed":
        this.node = undefined
        break
      case "unreadable":
        this.isUnreadable = true
        return
      case "short stream":
      case "long stream":
      case "broken stream":
        return
    }
    const isVisible = kind !== "overwritten unseen"
    if (isVisible && this.node === node) node.modified = world.now + 0.25
    this.remember(isVisible, kind)
  }

  /** Readable again, as after a disk was plugged in. */
  recover(): void {
    this.isUnreadable = false
  }

  /** The source as a process finds it now; none when there is no such file. */
  source(life: number): UploadSource | undefined {
    switch (this.given.kind) {
      case "nameless bytes":
        return UploadSources.fromBytes(this.given.name, content(this.given.size, this.seed))
      case "bytes":
        return {
          ...UploadSources.fromBytes(this.given.name, content(this.given.size, this.seed)),
          fingerprint: { kind: "bytes", size: this.given.size, identity: `bytes-${this.seed}` }
        }
      case "file":
        return this.node === undefined ? undefined : this.file(life, this.node)
      case "stream":
        return UploadSources.fromStream(this.given.name, this.stream(life), { size: this.given.size })
      case "stream once":
        return UploadSources.fromStreamOnce(this.given.name, this.stream(life), { size: this.given.size })
    }
  }

  // Streams

  private stream(life: number): Stream.Stream<Uint8Array, "broken"> {
    const { chunk, size, trouble } = this.given
    const kind = trouble?.life === life ? trouble.kind : undefined
    const whole = content(size, this.seed)
    const given = kind === "short stream"
      ? whole.subarray(0, size - 1)
      : kind === "long stream"
      ? Uint8Array.from([...whole, 7])
      : whole
    const pieces = Array.from(
      { length: Math.ceil(given.length / chunk) },
      (_, index) => given.subarray(index * chunk, (index + 1) * chunk)
    )
    if (kind !== undefined) this.world.met(`source ${kind}`)
    return Stream.suspend(() => {
      this.useOf(life).pulled = 0
      const breaksAfter = kind === "broken stream" ? Math.floor(pieces.length / 2) : pieces.length
      const read = Stream.fromIterable(pieces.slice(0, breaksAfter)).pipe(
        Stream.rechunk(1),
        Stream.map((piece) => {
          this.useOf(life).pulled += piece.byteLength
          this.world.moment()
          this.noteHeld(life)
          return piece
        })
      )
      return kind === "broken stream" ? Stream.concat(read, Stream.fail("broken" as const)) : read
    })
  }

  private useOf(life: number): Use {
    const use = this.use.get(life) ?? { pulled: 0, confirmed: new Map(), handles: 0 }
    this.use.set(life, use)
    return use
  }

  handlesOf(life: number): number {
    return this.useOf(life).handles
  }

  confirm(life: number, key: string, bytes: number): void {
    this.useOf(life).confirmed.set(key, bytes)
  }

  beginSession(life: number): void {
    const use = this.useOf(life)
    use.confirmed.clear()
    use.pulled = 0
  }

  private noteHeld(life: number): void {
    const use = this.useOf(life)
    let bytes = use.pulled
    for (const confirmed of use.confirmed.values()) bytes -= confirmed
    this.world.history.held.push({ ...this.world.moment(), name: this.given.name, life, bytes })
  }

  // Files

  private fingerprintOf(node: Node): Fingerprint {
    return { kind: "file", size: node.content.length, modified: node.modified, identity: node.identity }
  }

  private unreadable(reason: "NotFound" | "Failed") {
    return new SourceErrors.SourceUnreadable({ fileName: this.given.name, reason })
  }

  private difference(fingerprint: Fingerprint, node: Node): SourceErrors.SourceError | undefined {
    const now = this.fingerprintOf(node)
    const what = (["identity", "size", "modified"] as const).find((aspect) => fingerprint[aspect] !== now[aspect])
    return what === undefined ? undefined : new SourceErrors.SourceChanged({ fileName: this.given.name, what })
  }

  private check(life: number, fingerprint: Fingerprint, handle: Node): SourceErrors.SourceError | undefined {
    const problem = this.node === undefined
      ? this.unreadable("NotFound")
      : this.difference(fingerprint, handle) ?? this.difference(fingerprint, this.node)
    this.world.history.checks.push({
      ...this.world.moment(),
      life,
      name: this.given.name,
      isUnchanged: problem === undefined
    })
    return problem
  }

  private unchanged(
    life: number,
    fingerprint: Fingerprint,
    handle: Node
  ): Effect.Effect<void, SourceErrors.SourceError> {
    return Effect.suspend((): Effect.Effect<void, SourceErrors.SourceError> => {
      const problem = this.check(life, fingerprint, handle)
      return problem === undefined ? Effect.void : Effect.fail(problem)
    })
  }

  private file(life: number, found: Node): RepeatableSource {
    const fingerprint = this.fingerprintOf(found)
    const { chunk, name } = this.given
    const { world } = this

    const opened = (handle: Node): OpenSource => ({
      section: (range) =>
        Effect.succeed({
          range,
          body: (observe) =>
            Effect.sync(() => ({ _tag: "NativeBody", content: reader(handle, range, observe) }) as const)
        }),
      readThrough: (range, observe) =>
        Effect.suspend(() => {
          world.history.reads.push({ ...world.moment(), life, name, ...range })
          const native = reader(handle, range, observe)
          for (let piece = native.next(); piece !== undefined; piece = native.next()) {
            if (!(piece instanceof Uint8Array)) return Effect.fail(piece)
          }
          return Effect.void
        }),
      unchanged: this.unchanged(life, fingerprint, handle)
    })

    const reader = (
      handle: Node,
      range: { readonly offset: number; readonly length: number },
      observe: (chunk: Uint8Array) => void
    ): NativeContent => {
      const end = range.offset + range.length
      let position = range.offset
      return new NativeContent(() => {
        if (position >= end) return undefined
        if (this.isUnreadable) return this.unreadable("Failed")
        const piece = handle.content.slice(position, Math.min(end, position + chunk))
        if (piece.length === 0) return new SourceErrors.SourceChanged({ fileName: name, what: "size" })
        position += piece.length
        // As the file source of Node does: before the last bytes leave.
        const problem = position >= end ? this.difference(fingerprint, handle) : undefined
        if (problem !== undefined) return problem
        observe(piece)
        return piece
      })
    }

    return {
      _tag: "RepeatableSource",
      held: false,
      name,
      mediaType: "application/octet-stream",
      size: fingerprint.size,
      fingerprint,
      open: Effect.flatMap(
        Effect.acquireRelease(
          Effect.suspend(() => {
            if (this.node === undefined || this.isUnreadable) return Effect.fail(this.unreadable("NotFound"))
            this.useOf(life).handles++
            return Effect.succeed(this.node)
          }),
          () =>
            Effect.sync(() => {
              this.useOf(life).handles--
            })
        ),
        (handle) => Effect.as(this.unchanged(life, fingerprint, handle), opened(handle))
      )
    }
  }
}
