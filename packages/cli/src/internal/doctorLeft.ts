interface Left {
  readonly fileId: string
  readonly kind: "file" | "session"
  readonly bytes: number
}

/** What a run of `stevedore doctor` left behind, as lines. */
export const leftBehind = (left: ReadonlyArray<Left>): ReadonlyArray<string> => [
  ...(left.length === 0 ? ["Nothing was left behind."] : ["Left at the service, whose API cannot delete:"]),
  ...left.map(({ bytes, fileId, kind }) =>
    kind === "file"
      ? `  file ${fileId}, ${bytes} bytes: delete it by hand`
      : `  session ${fileId}: never completed; the service removes it after about a day`
  )
]
