import * as Effect from "effect/Effect"
import * as Contenders from "../Contenders.js"
import * as Contest from "../Contest.js"
import * as Files from "../Files.js"
import * as Markdown from "../Markdown.js"
import * as Processes from "../Processes.js"
import type { Goal, Setting, Topic } from "../Topic.js"

const kibibyte = 2 ** 10
const mebibyte = 2 ** 20
const gibibyte = 2 ** 30

/** So much work, and whoever does it. */
interface Point {
  readonly label: string
  /** In the unit of the axis. */
  readonly amount: number
  readonly bytes: number
  readonly contender: Contest.Contender
}

interface Axis {
  readonly title: string
  readonly unit: string
  readonly points: ReadonlyArray<Point>
  /** Whether the work is the same at every point, so that its cost should be too. */
  readonly sameWork?: boolean
}

interface Measured extends Point {
  readonly standing: Contest.Standing
}

interface MeasuredAxis extends Omit<Axis, "points"> {
  readonly points: ReadonlyArray<Measured>
}

const bySize = (setting: Setting, { origin }: Processes.Sink): Effect.Effect<Axis> => {
  const sizes = [1, 16, 64, 256, 1024].map((number) => number * mebibyte)
  return Effect.map(
    Effect.forEach(
      setting.full ? [...sizes, 4 * gibibyte, 1e10] : sizes,
      (size) =>
        Effect.map(Files.make(setting.folder, size), (file) => {
          const label = Markdown.size(size)
          return {
            label,
            amount: size / gibibyte,
            bytes: size,
            contender: Contenders.stevedoreUpload(setting, origin, file, label)
          }
        })
    ),
    (points) => ({ title: "File size", unit: "GiB", points })
  )
}

const byParts = (setting: Setting, { origin }: Processes.Sink): Effect.Effect<Axis> => {
  const bytes = 64 * mebibyte
  return Effect.map(Files.make(setting.folder, bytes), (file) => ({
    title: `Number of parts of a file of ${Markdown.size(bytes)}`,
    unit: "1,000 parts",
    points: (setting.full ? [1, 10, 100, 1000, 10_000] : [1, 10, 100, 1000]).map((parts) => {
      const label = parts.toLocaleString("en")
      const contender = Contenders.stevedoreUpload(setting, origin, file, `${label} parts`, {
        parts,
        minimumPartSize: 1
      })
      return { label, amount: parts / 1000, bytes, contender }
    })
  }))
}

const byParallelism = (setting: Setting, { origin }: Processes.Sink): Effect.Effect<Axis> => {
  const bytes = 256 * mebibyte
  return Effect.map(Files.make(setting.folder, bytes), (file) => ({
    title: `Concurrency, for a file of ${Markdown.size(bytes)} in 64 parts`,
    unit: "",
    points: [1, 2, 4, 8, 16, 32].map((concurrency) => ({
      label: String(concurrency),
      amount: concurrency,
      bytes,
      contender: Contenders.stevedoreUpload(setting, origin, file, `concurrency ${concurrency}`, {
        concurrency,
        parts: 64,
        minimumPartSize: 1
      })
    })),
    sameWork: true
  }))
}

const byFiles = (setting: Setting, { origin }: Processes.Sink): Effect.Effect<Axis> => {
  const size = 10 * kibibyte
  return Effect.map(
    Effect.forEach(
      setting.full ? [1, 10, 100, 1000, 10_000] : [1, 10, 100, 1000],
      (count) =>
        Effect.map(Files.makeMany(setting.folder, count, size), (folder) => {
          const label = count.toLocaleString("en")
          return {
            label,
            amount: count / 1000,
            bytes: count * size,
            contender: Contenders.program(setting, "stevedoreSmallFiles", `${label} files`, [origin, folder, count, 16])
          }
        })
    ),
    (points) => ({ title: `Number of files of ${Markdown.size(size)}, 16 at a time`, unit: "1,000 files", points })
  )
}

const axes = [bySize, byParts, byParallelism, byFiles]

const measure = (axis: Axis, setting: Setting, sink: Processes.Sink) =>
  Effect.map(
    Effect.forEach(axis.points, (point) =>
      Effect.map(
        Contest.hold([point.contender], { runs: Math.min(setting.runs, 3), sink, expected: { bytes: point.bytes } }),
        (standings) => standings.map((standing): Measured => ({ ...point, standing }))
      )),
    (points): MeasuredAxis => ({ ...axis, points: points.flat() })
  )

// Start and warming up cost the same whatever follows: what each unit costs is told by the step from the row above.
const steps = ({ points }: MeasuredAxis): ReadonlyArray<number> =>
  points.map(({ amount, standing }, index) => {
    const before = points[index - 1]
    return before === undefined
      ? NaN
      : (standing.cpu.median - before.standing.cpu.median) / (amount - before.amount)
  })

const goal = (axis: MeasuredAxis): Goal => {
  const costs = axis.points.map(({ standing }) => standing.cpu.median)
  if (axis.sameWork === true) {
    const measured = (costs.at(-1) ?? NaN) / (costs[0] ?? NaN)
    return { title: `${axis.title}: CPU of the last row against the first`, safe: 1.25, aim: 1.1, measured }
  }
  const each = steps(axis)
  const measured = (each.at(-1) ?? NaN) / (each.at(-2) ?? NaN)
  return { title: `${axis.title}: CPU per unit, last step against the one before`, safe: 1.25, aim: 1.1, measured }
}

const render = (axis: MeasuredAxis): string => {
  const each = steps(axis)
  const table = Markdown.table(
    [
      "",
      "wall, s",
      "CPU, s",
      ...(axis.sameWork === true ? [] : [`CPU, s, per additional ${axis.unit}`]),
      "peak memory, MiB",
      "connections"
    ],
    axis.points.map(({ label, standing }, index) => [
      label,
      Markdown.spread(standing.wall),
      Markdown.spread(standing.cpu),
      ...(axis.sameWork === true ? [] : [Markdown.number(each[index] ?? NaN)]),
      Markdown.mebibytes(standing.memory.median),
      String(standing.connections)
    ])
  )
  const chart = Markdown.chart({
    title: `CPU: ${axis.title}`,
    x: [axis.title, axis.points.map(({ label }) => label)],
    y: ["s", axis.points.map(({ standing }) => standing.cpu.median)]
  })
  return `### ${axis.title}\n\n${table}\n\n${chart}`
}

export const scaling: Topic = {
  name: "scaling",
  run: (setting) =>
    Effect.gen(function*() {
      const sink = yield* Processes.sink(setting.programs)
      const measured = yield* Effect.forEach(
        axes,
        (axis) => Effect.flatMap(axis(setting, sink), (axis) => measure(axis, setting, sink))
      )
      return {
        title: "Scaling",
        conditions:
          `What an upload costs as the work grows. Whole processes, number of runs: ${Math.min(setting.runs, 3)}. ` +
          "`--full` adds 4 GiB and 10 GB, 10,000 parts and 10,000 files. For the length of a list, see " +
          "[Lists of any length](#lists-of-any-length).",
        body: measured.map(render).join("\n\n"),
        goals: measured.map(goal)
      }
    })
}
