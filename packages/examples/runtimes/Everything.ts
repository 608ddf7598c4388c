/** What a program does with the service, tried one after the other: the same on every runtime. */
import { Downloads, Files, Lists, ServiceProfile, Uploads, UploadSources } from "@stevedore/core"
import { Chunk, Data, Effect, Either, Redacted, Stream } from "effect"

/** Where the service is. */
export interface Setting {
  readonly baseUrl: string
  readonly token: string
}

/** The same as options of a layer. Parts may be small there, so that nobody waits for large ones. */
export const optionsOf = ({ baseUrl, token }: Setting) => ({
  baseUrl,
  token: Redacted.make(token),
  profile: ServiceProfile.extend(ServiceProfile.standard, { limits: { minimumPartSize: 1 } })
})

/** What was tried, and `yes` or what went wrong. */
export type Tried = Readonly<Record<string, string>>

const contentOf = (size: number): Uint8Array =>
  Uint8Array.from({ length: size }, (_, index) => (index * 31 + (index >> 10)) % 251)

const isSame = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, index) => byte === other[index])

const joined = (chunks: Chunk.Chunk<Uint8Array>): Effect.Effect<Uint8Array> =>
  Effect.promise(async () =>
    new Uint8Array(await new Blob(Chunk.toReadonlyArray(chunks).map((it) => new Uint8Array(it))).arrayBuffer())
  )

const there = (name: string, content: Uint8Array, parts?: number) =>
  Uploads.upload(UploadSources.fromBytes(name, content), parts === undefined ? {} : { strategy: "multipart", parts })

const back = (fileId: string) => Effect.flatMap(Stream.runCollect(Downloads.stream(fileId)), joined)

class Unexpected extends Data.TaggedError("Unexpected")<{ readonly message: string }> {}

const expected = (holds: boolean, message: string): Effect.Effect<void, Unexpected> =>
  holds ? Effect.void : new Unexpected({ message })

const tagOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.either(effect), Either.match({ onLeft: (error) => error._tag, onRight: () => "no error" }))

const small = contentOf(1000)

const large = contentOf(3 * 1024 * 1024)

const trials = {
  "one PUT": there("small.bin", small),
  parts: there("large.bin", large, 3),
  stream: Uploads.upload(UploadSources.fromStream("stream.bin", Stream.succeed(small), { size: small.length })),
  download: Effect.gen(function*() {
    const { id } = yield* there("back.bin", large, 3)
    yield* expected(isSame(yield* back(id), large), "other bytes came back")
  }),
  list: Effect.gen(function*() {
    const projects = yield* Stream.runCollect(Lists.projects())
    yield* expected(projects.length === 3, `${projects.length} projects instead of 3`)
  }),
  "typed errors": Effect.gen(function*() {
    const tags = yield* Effect.all([tagOf(Files.inspect("nothing")), tagOf(there("empty.bin", new Uint8Array()))])
    yield* expected(tags.join() === "NotFound,EmptySource", tags.join())
  })
} as const

/** Tries everything. Also a defect is an answer: it is what a runtime that lacks something shows. */
export const everything = Effect.forEach(
  Object.entries<Effect.Effect<unknown, unknown, Uploads.Requirements>>(trials),
  ([name, trial]) =>
    Effect.map(
      Effect.catchAllCause(Effect.as(trial, "yes"), (cause) => Effect.succeed(String(cause))),
      (answer) => [name, answer] as const
    )
).pipe(Effect.map((answers): Tried => Object.fromEntries(answers)))
