/** `<origin> <folder> <count> <files at once>`: the same three requests a file by undici, and nothing else. Writes the seconds. */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { Agent, request } from "undici"

const [origin = "", folder = "", count = "1", files = "16"] = process.argv.slice(2)

const dispatcher = new Agent({ connections: Number(files), pipelining: 1 })

const call = async (path: string, body: unknown): Promise<unknown> => {
  const answer = await request(`${origin}${path}`, {
    dispatcher,
    method: "POST",
    headers: { authorization: "Bearer api.loopback", "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  return answer.body.json()
}

const isOpened = (answer: unknown): answer is { readonly data: { readonly id: string; readonly upload_url: string } } =>
  typeof answer === "object" && answer !== null && "data" in answer

const upload = async (number: number) => {
  const name = `${number}.bin`
  const bytes = await readFile(join(folder, name))
  const opened = await call("/v2/files/upload", { name, type: "application/octet-stream", size: bytes.length })
  if (!isOpened(opened)) throw new Error("The service has not opened a session")
  const { body } = await request(opened.data.upload_url, {
    dispatcher,
    method: "PUT",
    headers: { "x-amz-server-side-encryption": "aws:kms" },
    body: bytes
  })
  await body.dump()
  await call(`/v2/files/${opened.data.id}/upload/complete`, {})
}

const before = performance.now()

let next = 1
const worker = async () => {
  while (next <= Number(count)) await upload(next++)
}
await Promise.all(Array.from({ length: Number(files) }, worker))
process.stdout.write(String((performance.now() - before) / 1000))
await dispatcher.close()
