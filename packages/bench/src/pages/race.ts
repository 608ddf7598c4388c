/** What runs in the page of the race: an upload of the chosen file by us, and the loop that anybody would write. */
import * as BlobSource from "@stevedore/browser/BlobSource"
import * as BrowserStevedore from "@stevedore/browser/BrowserStevedore"
import * as Checksum from "@stevedore/core/Checksum"
import * as Uploads from "@stevedore/core/Uploads"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** How the file goes up, for all alike. */
export interface Course {
  readonly parts: number
  readonly concurrency: number
}

const chosen = (): File => {
  const file = document.querySelector("input")?.files?.item(0)
  if (file === null || file === undefined) throw new Error("no file was chosen")
  return file
}

const put = (url: string, slice: Blob, onSent: (bytes: number) => void): Promise<string> =>
  new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest()
    xhr.upload.onprogress = (event) => onSent(event.loaded)
    xhr.onload = () => resolve(xhr.getResponseHeader("etag") ?? "")
    xhr.onerror = () => reject(new Error("a part was not taken"))
    xhr.open("PUT", url)
    xhr.send(slice)
  })

const bare = async (file: File, { concurrency, parts }: Course): Promise<void> => {
  const partSize = Math.ceil(file.size / parts)
  const etags: Array<string> = []
  const sent: Array<number> = []
  let next = 0
  const worker = async () => {
    while (next < parts) {
      const index = next++
      const slice = file.slice(index * partSize, (index + 1) * partSize)
      etags[index] = await put(`/storage/bare?partNumber=${index + 1}&uploadId=u`, slice, (bytes) => {
        sent[index] = bytes
      })
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}

const upload = (file: File, course: Course, checksums: Layer.Layer<never>): Promise<unknown> =>
  Effect.flatMap(
    BlobSource.fromFile(file),
    (source) => Uploads.upload(source, { ...course, strategy: "multipart" })
  ).pipe(
    Effect.provide(BrowserStevedore.layer({ baseUrl: location.origin }).pipe(Layer.provide(checksums))),
    Effect.runPromise
  )

const runners = {
  bare,
  stevedore: (file: File, course: Course) => upload(file, course, Layer.empty),
  withoutChecksums: (file: File, course: Course) => upload(file, course, Checksum.none)
} as const

export type Runner = keyof typeof runners

const seconds = async (runner: Runner, course: Course): Promise<number> => {
  const file = chosen()
  const begun = performance.now()
  await runners[runner](file, course)
  return (performance.now() - begun) / 1000
}

/** How a race ended. */
export type Outcome = { readonly seconds: number } | { readonly failure: string }

/** Begins, and leaves the outcome on the window: nobody outside has to hold the page's promise meanwhile. */
const race = (runner: Runner, course: Course): void => {
  seconds(runner, course).then(
    (seconds) => Object.assign(window, { outcome: { seconds } }),
    (cause) => Object.assign(window, { outcome: { failure: String(cause) } })
  )
}

declare global {
  interface Window {
    readonly race: typeof race
    readonly outcome?: Outcome
  }
}

Object.assign(window, { race })
