/**
 * Completion scripts, mended: the library takes an argument and the value of an option for text, which no shell then
 * completes with a file's name, although the shell would do so without any script.
 */
import { actions } from "./bulkActions.js"
import { alone, flags, paths } from "./optionKinds.js"

// Where nothing matches, bash completes a file's name by itself, whatever characters are in it. The library separates the
// choices of an option with commas, where bash expects spaces: bash would complete all of them as one.
const bash = (script: string): string =>
  script
    .replace(/(?<=compgen -W ")[^"$]+/g, (choices) => choices.replaceAll(",", " "))
    .replace(/COMPREPLY=\( (?:\$\(compgen -f )?"\$\{cur\}"\)? \)/g, "COMPREPLY=()")
    .replace(/(?<= stevedore__upload\)\n)[^]*?(?=\n {12};;\n)/, (upload) =>
      upload
        .replace(/ \|\| \$\{COMP_CWORD\} -eq \d+/, "")
        .replace(/(?<=esac\n +)COMPREPLY=.*/, "COMPREPLY=()"))

// zsh completes no option after an argument that it does not know of
const inZsh: ReadonlyMap<string, string> = new Map([
  ["upload", "*:PATH:_files"],
  ["download", ":FILE_ID: "],
  ["bulk", `:ACTION:(${Object.keys(actions).join(" ")})' ':JOB: ' ':PATH:_files`],
  ["file", ":FILE_ID: "],
  ["list", ":RESOURCE: "]
])

const zsh = (script: string): string =>
  script
    .replace(/^( +'(--?[\w-]+)\[.*\])(?=' \\$)/gm, (line, given, name: string) =>
      flags.has(name) || alone.has(name) ? line : `${given}:${paths.has(name) ? "PATH:_files" : "VALUE: "}`)
    .replace(/(?<= \((\w+)\)\n *_arguments (?:.*\\\n)+)( +)(?=&& ret=0)/g, (indent, command: string) => {
      const argument = inZsh.get(command)
      return argument === undefined ? indent : `${indent}'${argument}' \\\n${indent}`
    })

const fish = (script: string): string =>
  script
    .replace(/(-l ([\w-]+) -r) -f(?= -d)/g, (line, given: string, name: string) =>
      paths.has(`--${name}`) ? `${given} -F` : line)
    .replace(/(_from upload" -r) -f(?= -d)/, "$1 -F")

/** A completion script that completes the names of files where a file is wanted; none if the text is no such script. */
export const mended = (text: string): string | undefined => {
  const script = text.trim()
  if (script.startsWith("function ")) return bash(script)
  if (script.startsWith("#compdef ")) return zsh(script)
  return script.startsWith("complete ") ? fish(script) : undefined
}
