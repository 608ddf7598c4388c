import { FileSystem } from "@effect/platform"
import { Effect } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { invoke } from "./invoke.js"
import { listening } from "./listening.js"

export interface Asked {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly path: string
  readonly body: string
}

/** Answers a call itself, or leaves it to the plain service. */
export type Answers = (asked: Asked) => boolean

export const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

export const json = (response: ServerResponse, status: number, text: string): true => {
  response.writeHead(status, { "content-type": "application/json" }).end(text)
  return true
}

const record = `{"id":"f1","status":"pending"}`

const plain = ({ path, response }: Asked, origin: string): void => {
  if (path === "/v2/files/upload") json(response, 201, `{"data":{"id":"f1","upload_url":"${origin}/put/1?sig=a"}}`)
  else if (path === "/v2/files/large-upload") {
    json(response, 201, `{"data":{"id":"f1","upload_id":"u","urls":["${origin}/put/1?sig=b"]}}`)
  } else if (path.startsWith("/put/")) response.writeHead(200, { etag: "\"e\"" }).end()
  else if (path.endsWith("/complete") || path === "/v1/files/f1") json(response, 200, `{"data":${record}}`)
  else json(response, 404, "{}")
}

/** A service with its storage, as a test wants it. */
export const serving = (answers: Answers, token = "api.nothing") =>
  Effect.gen(function*() {
    const asked: Array<string> = []
    const origin = yield* listening((request, response) => {
      void bodyOf(request).then((body) => {
        const call = { request, response, body: body.toString(), path: (request.url ?? "").replace(/\?.*/, "") }
        asked.push(`${request.method} ${call.path}`)
        if (!answers(call)) plain(call, `http://${request.headers.host}`)
      })
    })
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    yield* fs.writeFileString(`${folder}/a.txt`, "some text")
    const env = {
      STEVEDORE_BASE_URL: origin,
      STEVEDORE_TOKEN: token,
      XDG_STATE_HOME: `${folder}/state`
    }
    return { asked, folder, file: `${folder}/a.txt`, run: (...words: ReadonlyArray<string>) => invoke(words, env) }
  })
