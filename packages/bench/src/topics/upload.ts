import * as Effect from "effect/Effect"
import * as Contenders from "../Contenders.js"
import * as Contest from "../Contest.js"
import * as Files from "../Files.js"
import * as Markdown from "../Markdown.js"
import * as Processes from "../Processes.js"
import type { Goal, Section, Setting, Topic } from "../Topic.js"

const partSize = 16 * 2 ** 20

interface Protocol {
  readonly title: string
  readonly isTls: boolean
  readonly size: { readonly usual: number; readonly full: number }
  readonly againstNode: { readonly cpu: readonly [number, number]; readonly wall: readonly [number, number] }
}

const goals = (
  { againstNode, title }: Protocol,
  standings: ReadonlyArray<Contest.Standing>
): ReadonlyArray<Goal> => {
  const [node, ours, bare, , libStorage] = standings
  const ratio = (of: Contest.Standing | undefined, what: "cpu" | "wall") =>
    (ours?.[what].median ?? NaN) / (of?.[what].median ?? NaN)
  const goal = (title: string, measured: number, [safe, aim]: readonly [number, number]): Goal => ({
    title,
    measured,
    safe,
    aim
  })
  return [
    goal(`${title} against bare node: CPU`, ratio(node, "cpu"), againstNode.cpu),
    goal(`${title} against bare node: wall`, ratio(node, "wall"), againstNode.wall),
    goal(`${title} against lib-storage's defaults: CPU`, ratio(libStorage, "cpu"), [0.3, 0.2]),
    goal(`${title} against lib-storage's defaults: wall`, ratio(libStorage, "wall"), [0.3, 0.2]),
    goal(`${title}, engine on top of the bare transport: CPU`, ratio(bare, "cpu"), [1.35, 1.15]),
    goal(`${title}: peak memory, MiB`, (ours?.memory.median ?? NaN) / 2 ** 20, [140, 120])
  ]
}

const run = (protocol: Protocol) => (setting: Setting) =>
  Effect.gen(function*() {
    const size = setting.size ?? (setting.full ? protocol.size.full : protocol.size.usual)
    const file = yield* Files.make(setting.folder, size)
    const certificate = protocol.isTls ? yield* Processes.certificate(setting.folder) : undefined
    const sink = yield* Processes.sink(setting.programs, { certificate })
    const env: Readonly<Record<string, string>> = certificate === undefined
      ? {}
      : { NODE_EXTRA_CA_CERTS: certificate.cert }
    const standings = yield* Contest.hold([
      Contenders.nodeUpload(setting, sink.origin, file, env),
      Contenders.stevedoreUpload(setting, sink.origin, file, "defaults", {}, env),
      Contenders.bareUpload(setting, sink.origin, file, { concurrency: 4, parts: Math.ceil(size / partSize) }, env),
      ...Contenders.peersUploads(setting, sink.origin, file, env),
      Contenders.stevedoreUpload(setting, sink.origin, file, "a single PUT", { parts: 1 }, env),
      Contenders.curlUpload(sink.origin, file, certificate?.cert)
    ], { runs: setting.runs, sink, expected: { bytes: size } })
    const section: Section = {
      title: `Upload over ${protocol.title}`,
      conditions: `${
        Markdown.size(size)
      }, ${setting.runs} runs each, interleaved. Ratios are to the bare program of Node.`,
      body: Contest.table(standings),
      goals: goals(protocol, standings)
    }
    return section
  })

export const uploadHttp: Topic = {
  name: "upload-http",
  run: run({
    title: "HTTP",
    isTls: false,
    size: { usual: 2 ** 30, full: 4 * 2 ** 30 },
    againstNode: { cpu: [2.2, 1.8], wall: [1.6, 1.15] }
  })
}

export const uploadTls: Topic = {
  name: "upload-tls",
  run: run({
    title: "TLS",
    isTls: true,
    size: { usual: 2 ** 30, full: 2 ** 30 },
    againstNode: { cpu: [2.2, 1.8], wall: [1.6, 1.15] }
  })
}
