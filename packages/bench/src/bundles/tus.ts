import { Upload } from "tus-js-client"

export const upload = (file: File) => new Upload(file, { endpoint: "/api" }).start()
