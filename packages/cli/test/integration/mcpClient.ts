import { Client, type ClientOptions } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { Effect, Schema } from "effect"
import { words } from "./stevedore.js"

const Result = Schema.Struct({
  isError: Schema.optional(Schema.Boolean),
  structuredContent: Schema.Record({ key: Schema.String, value: Schema.Unknown })
})

const decode = Schema.decodeUnknownSync(Result)

/** A client of `stevedore mcp` by the protocol's own SDK, and every message that the server has sent it. */
export const connected = (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  options: ClientOptions = { versionNegotiation: { mode: "auto" } }
) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const [command = "", ...before] = words
      const transport = new StdioClientTransport({ command, args: [...before, "mcp", ...args], env, stderr: "pipe" })
      const client = new Client({ name: "test", version: "1.0.0" }, options)
      let stderr = ""
      transport.stderr?.on("data", (text) => {
        stderr += String(text)
      })
      await client.connect(transport)
      const messages: Array<string> = []
      const heard = transport.onmessage
      transport.onmessage = (message, ...more: []) => {
        messages.push(JSON.stringify(message))
        heard?.(message, ...more)
      }
      const { pid } = transport
      return {
        client,
        messages,
        stderr: () => stderr,
        pid: pid ?? 0,
        /** What a tool gives: its structured content, and whether it is an error. */
        call: (name: string, args: Readonly<Record<string, unknown>> = {}) =>
          Effect.promise(async (): Promise<Readonly<Record<string, unknown>>> => {
            const { isError = false, structuredContent } = decode(
              await client.callTool({ name, arguments: { ...args } })
            )
            return { ...structuredContent, isError }
          }),
        kill: Effect.promise(
          () =>
            new Promise<void>((resolve) => {
              transport.onclose = () => resolve()
              if (pid !== null) process.kill(pid, "SIGKILL")
            })
        )
      }
    }),
    ({ client }) => Effect.promise(() => client.close())
  )
