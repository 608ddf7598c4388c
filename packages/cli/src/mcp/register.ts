/** Makes tools known to the server, with answers that a model can act on. */
import * as McpSchema from "@effect/ai/McpSchema"
import { McpServer } from "@effect/ai/McpServer"
import * as Tool from "@effect/ai/Tool"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { tools } from "./tools.js"

/** In characters: what a model reads costs its user. */
const longest = 3_500

const Failure = Schema.Struct({ reason: Schema.String, next: Schema.String })

type Failure = typeof Failure.Type

const isFailure = Schema.is(Failure)

const tooLong: Failure = { reason: "The answer is too long", next: "Ask for less, such as fewer items of a list." }

const answered = (text: string, content: object, isError: boolean): McpSchema.CallToolResult =>
  text.length + JSON.stringify(content).length > longest
    ? failed(tooLong)
    : new McpSchema.CallToolResult({ isError, structuredContent: content, content: [{ type: "text", text }] })

const failed = (failure: Failure) => answered(`${failure.reason}. ${failure.next}`, failure, true)

const wrongArguments = (cause: ParseResult.ParseError): Failure => ({
  reason: ParseResult.ArrayFormatter.formatErrorSync(cause).slice(0, 4)
    .map(({ message, path }) => `${path.join(".") || "arguments"}: ${message.slice(0, 160)}`).join("; "),
  next: "Call the tool again with arguments as its schema says."
})

// A call whose arguments do not decode fails with an error of the toolkit, which has all of them in its message
const failureOf = (error: unknown): Failure =>
  isFailure(error)
    ? { reason: error.reason.slice(0, 600), next: error.next }
    : Predicate.hasProperty(error, "cause") && ParseResult.isParseError(error.cause)
    ? wrongArguments(error.cause)
    : { reason: "The tool failed", next: "Call doctor." }

/** Every tool, as the server lists and calls it. */
export const registered = Effect.gen(function*() {
  const server = yield* McpServer
  const built = yield* tools
  for (const tool of Object.values(built.tools)) {
    const isReading = Context.get(tool.annotations, Tool.Readonly)
    yield* server.addTool({
      tool: new McpSchema.Tool({
        name: tool.name,
        description: tool.description,
        inputSchema: Tool.getJsonSchemaFromSchemaAst(tool.parametersSchema.ast),
        annotations: new McpSchema.ToolAnnotations({
          readOnlyHint: isReading,
          destructiveHint: !isReading && Context.get(tool.annotations, Tool.Destructive)
        })
      }),
      handle: (payload) =>
        Effect.match(built.handle(tool.name, payload), {
          onFailure: (error) => failed(failureOf(error)),
          onSuccess: ({ result }) => {
            if (!("message" in result)) return failed(result)
            const { message, ...content } = result
            return answered(message, content, false)
          }
        })
    })
  }
})
