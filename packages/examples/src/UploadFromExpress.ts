import { NodeStream } from "@effect/platform-node"
import { ErrorKind, Uploads, UploadSources } from "@stevedore/core"
import { Effect, type ManagedRuntime } from "effect"
import express, { type Express, type Request } from "express"

// the body straight into storage; the client has to say how long it is
const upload = (request: Request<{ name: string }>, size: number) =>
  Uploads.upload(
    UploadSources.fromStreamOnce(
      request.params.name,
      // an error of the connection, and not a defect
      NodeStream.fromReadable(() => request, (cause) => cause),
      { size, mediaType: request.get("content-type") }
    )
  ).pipe(
    Effect.map(({ id, name, size }) => ({
      status: 200,
      body: { id, name, bytes: size }
    })),
    Effect.tapError((error) => Effect.logError(error)),
    // the status of each error; its message is for whoever runs the server
    Effect.catchAll(({ _tag, kind }) =>
      Effect.succeed({ status: ErrorKind.table[_tag][1], body: { _tag, kind } })
    )
  )

export const appOf = (
  runtime: ManagedRuntime.ManagedRuntime<Uploads.Requirements, never>
): Express =>
  express().put("/recordings/:name", (request, response, next) => {
    const size = Number(request.get("content-length"))
    if (!Number.isSafeInteger(size)) return void response.sendStatus(411)
    const gone = new AbortController()
    // a client that goes away interrupts the upload
    response.once("close", () => gone.abort())
    runtime.runPromise(upload(request, size), { signal: gone.signal }).then(
      ({ body, status }) => void response.status(status).json(body),
      (error) => gone.signal.aborted ? undefined : next(error)
    )
  })
