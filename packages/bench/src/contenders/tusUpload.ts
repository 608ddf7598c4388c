/** `<origin> <file>`: an upload by tus-js-client with its defaults. */
import { createReadStream } from "node:fs"
import { Upload } from "tus-js-client"

const [origin = "", file = ""] = process.argv.slice(2)

await new Promise<void>((resolve, reject) => {
  new Upload(createReadStream(file), {
    endpoint: `${origin}/tus`,
    onSuccess: () => resolve(),
    onError: reject
  }).start()
})
process.exit(0)
