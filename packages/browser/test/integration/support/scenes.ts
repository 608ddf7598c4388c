// The states of the element, each reached as a visitor reaches it.
import type {} from "@stevedore/browser/element"
import { FaultScript } from "@stevedore/testing"
import type { Page } from "playwright-core"

export interface Scene {
  readonly faults?: FaultScript.FaultScript
  readonly reach: (page: Page) => Promise<void>
}

const MB = 1_000_000

const file = (name: string, mimeType: string, size = 1000) => ({ name, mimeType, buffer: Buffer.alloc(size, "a") })

/** One pixel of orange. */
const photo = {
  name: "Sunset over the harbour.png",
  mimeType: "image/png",
  buffer: Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==",
    "base64"
  )
}

const few = [
  photo,
  file("Quarterly report.pdf", "application/pdf", 240_000),
  file("Interview with customers, take 17.mp3", "audio/mpeg", 900_000)
]

const choose = (page: Page, files: Parameters<Page["setInputFiles"]>[1]) => page.setInputFiles("#files", files)

/** Files that are too large to be handed to the browser are made in it. */
const add = (page: Page, files: ReadonlyArray<readonly [name: string, type: string, size: number]>) =>
  page.evaluate((files) => {
    const upload = document.querySelector("stevedore-upload")
    void upload?.add(files.map(([name, type, size]) => new File([new Uint8Array(size)], name, { type })))
  }, files)

/** Uploads at so many bytes a second. */
const throttled = async (page: Page, uploadThroughput: number): Promise<void> => {
  const session = await page.context().newCDPSession(page)
  await session.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 20,
    downloadThroughput: -1,
    uploadThroughput
  })
}

const isSaid = (page: Page, words: string) => page.locator("#announcements", { hasText: words }).waitFor()

const moving = async (page: Page): Promise<void> => {
  await throttled(page, 2 * MB)
  await add(page, [
    ["Holiday.mp4", "video/mp4", 120 * MB],
    ["Figures.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", 6 * MB],
    ["Interview with customers, take 17.mp3", "audio/mpeg", 8 * MB],
    ["Backup.tar.gz", "application/gzip", 20 * MB],
    ["Notes", "", 2 * MB]
  ])
  await page.locator("#queue .numbers", { hasText: "/s" }).waitFor()
}

export const scenes: Readonly<Record<string, Scene>> = {
  empty: { reach: (page) => page.locator("#choose-files").waitFor() },
  moving: { reach: moving },
  menu: {
    reach: async (page) => {
      await page.setViewportSize({ width: 360, height: 800 })
      await moving(page)
      await page.locator("#more").click()
    }
  },
  paused: {
    reach: async (page) => {
      await moving(page)
      await page.locator("#pause-all").click()
      await isSaid(page, "All uploads are paused.")
    }
  },
  refused: {
    reach: async (page) => {
      await page.evaluate(() => {
        const upload = document.querySelector("stevedore-upload")
        if (upload !== null) upload.limits = { size: 100_000, accept: ["image/*", ".pdf", ".txt"] }
      })
      await choose(page, [
        photo,
        file("Quarterly report.pdf", "application/pdf", 240_000),
        file("Setup.exe", "application/x-msdownload"),
        file("empty.txt", "text/plain", 0)
      ])
      await isSaid(page, "1 file uploaded.")
    }
  },
  failed: {
    faults: FaultScript.on("put").times(2).answer(403, "AccessDenied").and(
      FaultScript.on("put").always().delay("1 minute")
    ),
    reach: async (page) => {
      await choose(page, [...few, file("Minutes of the annual meeting.docx", "application/msword", 88_000)])
      await page.locator("li[data-state=failed]").nth(1).waitFor()
    }
  },
  final: {
    faults: FaultScript.on("initiate").times(2).answer(422),
    reach: async (page) => {
      await choose(page, few)
      await page.locator("li[data-state=failed]").nth(1).waitFor()
    }
  },
  ready: {
    reach: async (page) => {
      await page.evaluate(() => {
        const limits = { accept: "image/*,.pdf,.mp3", maxSize: "2 MB", maxFiles: "4", autostart: "false" }
        Object.assign(document.querySelector("stevedore-upload") ?? {}, limits)
      })
      await choose(page, few)
      await page.locator("#start-all").waitFor()
    }
  },
  single: {
    reach: async (page) => {
      await page.evaluate(() => document.querySelector("stevedore-upload")?.setAttribute("max-files", "1"))
      await page.locator("#limits").waitFor()
    }
  },
  required: {
    reach: async (page) => {
      await page.evaluate(() => {
        const upload = document.querySelector("stevedore-upload")
        const form = document.createElement("form")
        upload?.replaceWith(form)
        if (upload !== null) form.append(upload)
        upload?.setAttribute("required", "")
        form.requestSubmit()
      })
      await page.locator("#drop .error").waitFor()
    }
  },
  removed: {
    reach: async (page) => {
      await choose(page, few)
      await isSaid(page, "3 files uploaded.")
      await page.getByLabel(`Remove ${photo.name}`).click()
      await page.locator("#removed").waitFor()
    }
  },
  done: {
    reach: async (page) => {
      await page.evaluate(() => {
        const upload = document.querySelector("stevedore-upload")
        if (upload !== null) upload.linkOf = ({ name }) => `https://files.example/${encodeURIComponent(name)}`
      })
      await choose(page, few)
      await isSaid(page, "3 files uploaded.")
    }
  },
  many: {
    reach: async (page) => {
      await choose(page, Array.from({ length: 30 }, (_, index) => file(`Photo ${index + 1}.txt`, "text/plain")))
      await isSaid(page, "30 files uploaded.")
    }
  },
  offline: {
    faults: FaultScript.on("put").always().delay("1 minute"),
    reach: async (page) => {
      await choose(page, few)
      await page.locator("li").nth(2).waitFor()
      await page.context().setOffline(true)
      await page.locator("#offline").waitFor()
    }
  },
  unfinished: {
    faults: FaultScript.on("putPart").part(2).stall("connect"),
    reach: async (page) => {
      await add(page, [["Holiday.mp4", "video/mp4", 90 * MB]])
      await page.getByTitle(/^[1-9].*\sstored/).waitFor()
      await page.reload()
      await page.locator("#unfinished").waitFor()
    }
  }
}
