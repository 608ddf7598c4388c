/** The contenders by what they do, with their versions. */
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import type { Contender } from "./Contest.js"
import * as Machine from "./Machine.js"
import type { Setting } from "./Topic.js"

/** A bundled program of this package as a contender. */
export const program = (
  setting: Setting,
  module: string,
  title: string,
  words: ReadonlyArray<string | number>,
  env: Readonly<Record<string, string>> = {}
): Contender => ({
  title,
  program: process.execPath,
  words: [join(setting.programs, `contenders/${module}.mjs`), ...words],
  // the ledger of uploads is part of what is measured, but it is not to be found in anyone's home
  env: { XDG_STATE_HOME: join(setting.folder, "state"), NO_PROXY: "127.0.0.1", ...env }
})

const versioned = (name: string) => `${name} ${Machine.versionOf(name)}`

const curlVersion = () => execFileSync("curl", ["--version"], { encoding: "utf8" }).split(" ").slice(0, 2).join(" ")

const quiet = ["--silent", "--show-error", "--fail", "--noproxy", "127.0.0.1", "--output", "/dev/null"]

export const curlUpload = (origin: string, file: string, cert?: string): Contender => ({
  title: `${curlVersion()} \`-T\``,
  program: "curl",
  words: [...quiet, ...(cert === undefined ? [] : ["--cacert", cert]), "-T", file, `${origin}/storage/curl`]
})

export const curlDownload = (url: string, target: string): Contender => ({
  title: `${curlVersion()} \`-o\``,
  program: "curl",
  words: ["--silent", "--show-error", "--fail", "--noproxy", "127.0.0.1", "--output", target, url]
})

const title = (what: string) => `**Stevedore**, ${what}`

/** Numbers that are left out are the defaults. */
interface UploadWishes {
  readonly concurrency?: number
  readonly parts?: number
  readonly minimumPartSize?: number
}

export const stevedoreUpload = (
  setting: Setting,
  origin: string,
  file: string,
  what: string,
  { concurrency, minimumPartSize, parts }: UploadWishes = {},
  env: Readonly<Record<string, string>> = {}
): Contender =>
  program(
    setting,
    "stevedoreUpload",
    title(what),
    [origin, file, ...[concurrency, parts, minimumPartSize].map((number) => number ?? "-")],
    env
  )

export const peersUploads = (
  setting: Setting,
  origin: string,
  file: string,
  env: Readonly<Record<string, string>> = {}
): ReadonlyArray<Contender> => [
  program(setting, "undiciUpload", `${versioned("undici")}, one PUT`, [origin, file], env),
  program(setting, "libStorageUpload", `${versioned("@aws-sdk/lib-storage")}, defaults`, [origin, file], env),
  program(setting, "tusUpload", `${versioned("tus-js-client")}, defaults`, [origin, file], env)
]

export const bareUpload = (
  setting: Setting,
  origin: string,
  file: string,
  wishes: Required<Pick<UploadWishes, "concurrency" | "parts">>,
  env: Readonly<Record<string, string>> = {}
): Contender =>
  program(
    setting,
    "bareUpload",
    "the same transport without the engine",
    [origin, file, wishes.concurrency, wishes.parts],
    env
  )

/** What a goal is about: what Node itself takes, with the same buffers and nothing else. */
export const nodeUpload = (
  setting: Setting,
  origin: string,
  file: string,
  env: Readonly<Record<string, string>> = {}
): Contender =>
  program(
    setting,
    "nodeHttpUpload",
    `\`node:${origin.startsWith("https:") ? "https" : "http"}\`, one PUT with reused buffers, nothing else`,
    [origin, file],
    env
  )

export const download = (
  setting: Setting,
  origin: string,
  fileId: string,
  targets: (name: string) => string
): ReadonlyArray<Contender> => [
  program(setting, "undiciDownload", versioned("undici"), [
    `${origin}/v1/files/${fileId}/download`,
    targets("undici")
  ]),
  program(setting, "stevedoreDownload", title("4 ranges in parallel"), [origin, fileId, targets("stevedore")]),
  curlDownload(`${origin}/v1/files/${fileId}/download`, targets("curl"))
]
