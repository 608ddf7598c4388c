/** Completion scripts: a shell completes commands, options, choices, and the names of files where a path is wanted. */
import type { Page } from "../options/command.js"
import type { Entry } from "../options/parameter.js"
import * as RootHelp from "./programHelp.js"

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const namesOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<string> => entries.flatMap(({ names }) => names)

// Where nothing matches, bash completes a file's name by itself, whatever characters are in it
const bash = (pages: ReadonlyArray<Page>): ReadonlyArray<string> => {
  const commands = pages.map(({ name }) => name)
  const within = (page: string, entries: ReadonlyArray<Entry>): ReadonlyArray<string> =>
    entries.filter(({ placeholder }) => placeholder !== undefined).map(({ choices, names }) =>
      `    ${names.map((name) => `${page}:${name}`).join("|")}) choices=${quoted(choices.join(" "))} ;;`
    )
  return [
    "_stevedore_bash_completions() {",
    "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\" command=\"\" word words choices",
    "  COMPREPLY=()",
    "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do",
    `    case "$word" in ${commands.join("|")}) command="$word"; break ;; esac`,
    "  done",
    "  case \"$command:$prev\" in",
    ...pages.flatMap(({ name, options }) => within(name, options)),
    ...within("*", RootHelp.options),
    "    *) choices=\"-\" ;;",
    "  esac",
    "  if [[ \"$choices\" == - ]]; then",
    "    case \"$command\" in",
    ...pages.map(({ name, options }) => `      ${name}) words=${quoted(namesOf(options).join(" "))} ;;`),
    `      *) words=${quoted([...commands, ...namesOf(RootHelp.options)].join(" "))} ;;`,
    "    esac",
    "    [[ \"$cur\" == -* || \"$command\" == \"\" ]] && choices=\"$words\" || choices=\"\"",
    "  fi",
    "  [[ \"$choices\" == \"\" ]] || COMPREPLY=( $(compgen -W \"$choices\" -- \"$cur\") )",
    "}",
    "complete -F _stevedore_bash_completions -o nosort -o bashdefault -o default stevedore"
  ]
}

const inZsh = ({ choices, isPath }: Entry): string =>
  choices.length > 0 ? `CHOICE:(${choices.join(" ")})` : isPath ? "PATH:_files" : "VALUE: "

const ofZsh = (entry: Entry): ReadonlyArray<string> =>
  entry.names.map((name) =>
    quoted(
      `${entry.repeated ? "*" : ""}${name}[${entry.help.replace(/[[\]\\]/g, "\\$&")}]${
        entry.placeholder === undefined ? "" : `:${inZsh(entry)}`
      }`
    )
  )

const argumentInZsh = ({ choices, isPath, names: [name], repeated }: Entry): string =>
  quoted(
    `${repeated ? "*" : ""}:${name}:${choices.length > 0 ? `(${choices.join(" ")})` : isPath ? "_files" : " "}`
  )

const zsh = (pages: ReadonlyArray<Page>): ReadonlyArray<string> => [
  "#compdef stevedore",
  "function _stevedore_zsh_completions() {",
  "  local context curcontext=\"$curcontext\" state line ret=1",
  "  typeset -A opt_args",
  "  _arguments -s -C \\",
  ...RootHelp.options.flatMap(ofZsh).map((line) => `    ${line} \\`),
  `    '1:COMMAND:(${pages.map(({ name }) => name).join(" ")})' '*::ARGUMENT:->command' && ret=0`,
  "  case \"$state:${words[1]}\" in",
  ...pages.map(({ args, name, options }) =>
    [
      `    command:${name}) _arguments -s \\`,
      ...[...options.flatMap(ofZsh), ...args.map(argumentInZsh)].map((line) => `      ${line} \\`),
      "      && ret=0 ;;"
    ].join("\n")
  ),
  "  esac",
  "  return ret",
  "}",
  "if [ \"$funcstack[1]\" = \"_stevedore_zsh_completions\" ]; then",
  "  _stevedore_zsh_completions \"$@\"",
  "else",
  "  compdef _stevedore_zsh_completions stevedore",
  "fi"
]

const fish = (pages: ReadonlyArray<Page>): ReadonlyArray<string> => {
  const option = (within: string) => ({ choices, help, isPath, names, placeholder }: Entry): string => {
    const given = names.map((name) => name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`).join(" ")
    const value = choices.length > 0 ? ` -r -f -a ${quoted(choices.join(" "))}` : isPath ? " -r -F" : " -r -f"
    return `${within} ${given}${placeholder === undefined ? "" : value} -d ${quoted(help)}`
  }
  const outside = "complete -c stevedore -n \"__fish_use_subcommand\""
  return [
    ...RootHelp.options.map(option(outside)),
    ...pages.map(({ name, summary }) => `${outside} -f -a ${name} -d ${quoted(summary)}`),
    ...pages.flatMap(({ args, name, options }) => {
      const within = `complete -c stevedore -n "__fish_seen_subcommand_from ${name}"`
      return [
        ...options.map(option(within)),
        ...args.map(({ choices, help, isPath }) =>
          `${within} ${isPath ? "-F" : `-f${choices.length > 0 ? ` -a ${quoted(choices.join(" "))}` : ""}`} -d ${
            quoted(help)
          }`
        )
      ]
    })
  ]
}

const scripts = { sh: bash, bash, zsh, fish }

/** The script for a shell. */
export const script = (shell: keyof typeof scripts, pages: ReadonlyArray<Page>): string =>
  scripts[shell](pages).join("\n")
