// A user's page in React, with the element as the guide shows it.
import "@stevedore/browser/element"
import type { Details, StevedoreUpload } from "@stevedore/browser/element"
import { createElement, StrictMode, useState } from "react"
import { createRoot } from "react-dom/client"

type Completed = CustomEvent<Details["completed"]>

const Upload = (
  props: Partial<Pick<StevedoreUpload, "limits" | "metadata" | "linkOf">> & {
    readonly oncompleted?: (event: Completed) => void
  }
) => createElement("stevedore-upload", { "base-url": "/api", ...props })

const limits: StevedoreUpload["limits"] = { files: 3, accept: [".txt"] }

// @ts-expect-error sizes are numbers
export const wrong: StevedoreUpload["limits"] = { size: "2 GB" }

const Page = () => {
  const [names, setNames] = useState<ReadonlyArray<string>>([])
  const add = ({ detail }: Completed) => setNames((names) => [...names, detail.item.result?.name ?? ""])
  return (
    <main>
      <Upload limits={limits} metadata={{ album: "7" }} oncompleted={add} />
      <output>{names.join(", ")}</output>
    </main>
  )
}

const root = document.getElementById("root")
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <Page />
    </StrictMode>
  )
}
