/** `<directory>`: `@tus/server` with its FileStore, until it is ended. It says where it listens. */
import { FileStore } from "@tus/file-store"
import { Server } from "@tus/server"

const [directory = ""] = process.argv.slice(2)

const server = new Server({ path: "/files", datastore: new FileStore({ directory }) })
const listening = server.listen({ host: "127.0.0.1", port: 0 })
listening.once("listening", () => {
  const address = listening.address()
  const port = typeof address === "object" ? address?.port : undefined
  console.log(JSON.stringify({ api: `http://127.0.0.1:${port}/files` }))
})
