/** Which names usually belong to files that hold secrets. */

/** By the names of files and of the directories around them, in lower case. */
const secrets: ReadonlyArray<RegExp> = [
  // what `stevedore serve` keeps, and the token of this program
  /^(signing-key|stevedore\.db.*|token|stevedore-token.*)$/,
  /^\.env($|\.)/,
  /\.env$/,
  /^\.envrc$/,
  /^\.(aws|azure|config|docker|gcloud|git|gnupg|kube|ssh|password-store)$/,
  /^\.(git-credentials|htpasswd|netrc|npmrc|pgpass|pypirc|my\.cnf|vault-token|yarnrc\.yml)$/,
  /^\.(\w*history|histfile|lesshst|viminfo)$/,
  /^(_netrc|kubeconfig)$/,
  /\.kubeconfig$/,
  /^id_(dsa|ecdsa|ed25519|rsa)/,
  /\.(asc|jks|kdbx?|key|keystore|p12|pem|pfx|ppk)$/,
  /^(application_default_)?credentials?($|\.)/,
  /^(client_)?secrets?($|[._-])/,
  /^(passwords?|passwd)\.(csv|txt)$/,
  /^wallet\.dat$/,
  /^(auth|token|tokens)\.json$/,
  /^service[-_]?account.*\.json$/,
  /^terraform\.tfstate/
]

// What editors and people add to the name of a copy
const copies = /(?:\.(?:bak|old|orig|save|sw[a-p]|tmp)\d*|~)+$/

/** Whether a file or a directory of this name usually holds secrets. A copy of one does, too, and so does a hidden one. */
export const isSecret = (name: string): boolean => {
  const plain = name.normalize("NFKC").toLowerCase().replace(copies, "")
  return secrets.some((secret) =>
    secret.test(plain) || secret.test(plain.replace(/^\.+/, "")) || secret.test(plain.replace(/^\.+/, "."))
  )
}

/** What is in a directory that `stevedore serve` keeps its files in. */
export const ofService = ["signing-key", "stevedore.db"] as const
