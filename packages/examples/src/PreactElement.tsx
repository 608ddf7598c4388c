/** @jsxImportSource preact */
// The element in Preact
import "@stevedore/browser/element"
import type {} from "@stevedore/browser/preact"
import type { UploadQueue } from "@stevedore/browser"

export const Upload = ({ show }: {
  readonly show: (item: UploadQueue.Item) => void
}) => (
  <stevedore-upload
    base-url="/api"
    limits={{ files: 3 }}
    oncompleted={({ detail }) => show(detail.item)}
  />
)
