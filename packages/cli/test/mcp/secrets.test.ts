import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { isSecret } from "../../src/mcp/secrets.js"

const secret = [
  "token",
  "signing-key",
  "stevedore.db",
  "stevedore.db-wal",
  ".stevedore-token",
  ".env",
  ".env.local",
  "prod.env",
  ".envrc",
  "kubeconfig",
  "prod.kubeconfig",
  ".bash_history",
  ".zsh_history",
  ".psql_history",
  ".lesshst",
  ".config",
  ".ssh",
  ".git",
  "id_rsa",
  "server.pem",
  "wallet.dat",
  "passwords.txt",
  "credentials.json",
  "client_secret.json",
  "token.json",
  "terraform.tfstate"
]

const innocent = [
  "interview.mp4",
  "environment.md",
  "tokens.md",
  "token.mp4",
  "history.txt",
  "history of salt.pdf",
  "monkey.png",
  "keynote.pptx",
  "config.yaml",
  "hosts.yml",
  "passage.txt",
  "report.bak",
  "notes.old",
  "draft~"
]

describe("isSecret", () => {
  it.each(secret)("%s", (name) => {
    assert.isTrue(isSecret(name))
    assert.isTrue(isSecret(name.toUpperCase()))
  })

  it.each(innocent)("not %s", (name) => assert.isFalse(isSecret(name)))

  const copy = fc.constantFrom(".bak", ".old", ".swp", "~", ".bak2", ".orig", ".tmp")

  it.prop(
    "a copy is what it is a copy of",
    [fc.constantFrom(...secret, ...innocent), fc.array(copy)],
    ([name, copies]) => {
      assert.strictEqual(isSecret(`${name}${copies.join("")}`), isSecret(name))
      assert.isTrue(!isSecret(name) || isSecret(`.${name}.swp`))
    }
  )
})
