import { Cause, Exit, Inspectable, Logger, Tracer } from "effect"
import { inspect } from "node:util"
import type { World } from "./World.js"

/** Everything that people may see of an upload goes here, and is searched for secrets afterwards. */
export class Printing {
  constructor(private readonly world: World) {}

  /** Only some histories print: it costs more than all the rest. */
  get isOn(): boolean {
    return this.world.scenario.isPrinted
  }

  print(where: string, value: unknown): void {
    if (!this.isOn) return
    this.world.print(where, typeof value === "string" ? value : Inspectable.toStringUnknown(value, 0))
  }

  inspected(where: string, value: unknown): void {
    if (this.isOn) this.world.print(where, inspect(value, { depth: 6 }))
  }

  error(error: { readonly message: string }, cause: Cause.Cause<unknown>): void {
    if (!this.isOn) return
    this.print("error", `${error.message}\n${JSON.stringify(error)}`)
    this.inspected("error", error)
    this.print("error", Cause.pretty(cause, { renderErrorCause: true }))
  }

  readonly logger = Logger.make(({ annotations, cause, logLevel, message, spans }) => {
    this.print("log", `${logLevel.label} ${Inspectable.toStringUnknown(message, 0)}`)
    if (Array.isArray(message)) { for (const part of message) this.inspected("log", part) }
    if (!Cause.isEmpty(cause)) this.print("log", Cause.pretty(cause, { renderErrorCause: true }))
    for (const [key, value] of annotations) this.print("log", `${key}=${Inspectable.toStringUnknown(value, 0)}`)
    for (const span of spans) this.print("log", span.label)
  })

  readonly tracer: Tracer.Tracer = Tracer.make({
    context: (run) => run(),
    span: (name, parent, context, links, startTime, kind) => {
      const attributes = new Map<string, unknown>()
      this.print("span", name)
      return {
        _tag: "Span",
        name,
        spanId: "0000000000000001",
        traceId: "00000000000000000000000000000001",
        parent,
        context,
        links: [...links],
        kind,
        sampled: true,
        status: { _tag: "Started", startTime },
        attributes,
        attribute: (key, value) => {
          attributes.set(key, value)
          this.print("span", `${key}=${Inspectable.toStringUnknown(value, 0)}`)
        },
        event: (event, _, values) => this.print("span", `${event} ${Inspectable.toStringUnknown(values ?? {}, 0)}`),
        addLinks: () => {},
        end: (_, exit) => {
          if (Exit.isFailure(exit)) this.print("span", Cause.pretty(exit.cause, { renderErrorCause: true }))
        }
      }
    }
  })
}
