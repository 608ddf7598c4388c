import type { EnhanceAppContext } from "vitepress"
import Theme from "vitepress/theme"
import { defineComponent, h, onMounted, ref } from "vue"
import { goLive } from "./live.js"
import "./style.css"

/** Written as `<LiveUpload />` in a page. */
const LiveUpload = defineComponent({
  setup: () => {
    const upload = ref()
    // not on the server that writes the page
    onMounted(() => goLive(upload.value))
    return () => h("stevedore-upload", { ref: upload, class: "live" })
  }
})

export default {
  extends: Theme,
  enhanceApp: ({ app }: EnhanceAppContext) => {
    app.component("LiveUpload", LiveUpload)
  }
}
