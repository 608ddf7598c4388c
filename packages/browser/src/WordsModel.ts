/** What a language has words for. */

/**
 * A text in which `{name}` and the like are replaced. If it depends on `{count}`, one for each of the language's plural
 * categories.
 *
 * @category models
 */
export type Message = string | { readonly [category in Intl.LDMLPluralRule]?: string } & { readonly other: string }

/**
 * A language. Replace what you want to say differently: `{ ...english, messages: { ...english.messages, done: "Sent" } }`.
 *
 * @category models
 */
export interface Words {
  /** For `Intl`, such as `de` or `de-CH`. */
  readonly language: string
  readonly messages: { readonly [key in MessageKey]: Message }
  readonly reasons: { readonly [key in Reason]: Message }
}

/**
 * What {@link Words} has a message for.
 *
 * @category models
 */
export type MessageKey =
  | "drop"
  | "touch"
  | "paste"
  | "chooseFiles"
  | "chooseFolder"
  | "notAdded"
  | "andMore"
  | "dismiss"
  | "unfinished"
  | "unfinishedHint"
  | "yourFiles"
  | "allFiles"
  | "finished"
  | "done"
  | "pauseAll"
  | "resumeAll"
  | "retryFailed"
  | "cancelAll"
  | "clearFinished"
  | "moreActions"
  | "pause"
  | "resume"
  | "resumeShort"
  | "retry"
  | "retryShort"
  | "choose"
  | "chooseShort"
  | "uploadAfterAll"
  | "cancel"
  | "remove"
  | "discard"
  | "open"
  | "openShort"
  | "copyLink"
  | "copyShort"
  | "copied"
  | "unnamed"
  | "amount"
  | "amountUploaded"
  | "stored"
  | "onItsWay"
  | "queued"
  | "queuedAgain"
  | "preparing"
  | "starting"
  | "finishing"
  | "stalled"
  | "waitsForServer"
  | "waitsForLimit"
  | "waitsForStorage"
  | "waitsForNetwork"
  | "againIn"
  | "paused"
  | "uploaded"
  | "failed"
  | "cancelled"
  | "nothingYet"
  | "waitsForFile"
  | "speed"
  | "timeLeft"
  | "secondsLeft"
  | "files"
  | "filesDone"
  | "failedFiles"
  | "isUploading"
  | "isAt"
  | "arePaused"
  | "areUploaded"
  | "haveFailed"
  | "offline"
  | "offlineIdle"
  | "formEmpty"
  | "formBusy"
  | "formFailed"

/**
 * Why a file failed or was refused, as far as it makes a difference to a visitor.
 *
 * @category models
 */
export type Reason =
  | "connection"
  | "slow"
  | "changed"
  | "otherFile"
  | "unreadable"
  | "otherTab"
  | "signedOut"
  | "notAllowed"
  | "tooLarge"
  | "empty"
  | "name"
  | "later"
  | "busy"
  | "unconfirmed"
  | "damaged"
  | "startOver"
  | "gone"
  | "owner"
  | "tooLargeFor"
  | "wrongType"
  | "duplicate"
  | "tooMany"
  | "totalTooLarge"
  | "emptyFolder"
  | "cannotBeRead"
