import type { CommandEntry } from "./command.ts"
import { CONFIGURATION_OPTIONS } from "./settings-options.ts"

/** Words that may follow a command: what it does, and its options. */
interface Completed {
  readonly name: string
  readonly summary: string
  readonly actions: readonly string[]
  readonly options: readonly string[]
}

const SHELLS = { bash, zsh, fish } as const

/** Shells that a completion can be made for. */
export type Shell = keyof typeof SHELLS

export function isShell(word: string | undefined): word is Shell {
  return word !== undefined && Object.hasOwn(SHELLS, word)
}

/**
 * The script that completes commands and options in a shell; it holds all words, and starts no program when it runs.
 */
export async function completionScript(shell: Shell, all: readonly CommandEntry[]): Promise<string> {
  const shown = all.filter(({ hidden }) => hidden !== true)
  const commands = await Promise.all(
    shown.map(async (entry) => completed(entry.name, entry.summary, (await entry.load()).usage)),
  )
  return SHELLS[shell](commands)
}

/** What a command takes, by its help, which is written from what it declares. */
function completed(name: string, summary: string, usage: string): Completed {
  const own = [...usage.matchAll(/^ {2}(?:-\w, | {4})(--[\w-]+)/gm)].map(([, option]) => option!)
  const common = usage.includes("common ones") ? Object.keys(CONFIGURATION_OPTIONS).map((option) => `--${option}`) : []
  const named = [...(/^Options \(and ([^:]*):/m.exec(usage)?.[1] ?? "").matchAll(/--[\w-]+/g)].map(([option]) => option)
  const synopsis = usage.slice(0, usage.indexOf("\n\n")).split("\n")
  const actions = synopsis.flatMap((line) => new RegExp(` ${name} \\[?([a-z]+)\\]?(?: |$)`).exec(line)?.[1] ?? [])
  return {
    name,
    summary,
    actions: [...new Set(actions)].filter((word) => word !== "options"),
    options: [...new Set([...own, ...named, ...common, "--help"])].sort(),
  }
}

function bash(commands: readonly Completed[]): string {
  const cases = commands.map(
    ({ name, actions, options }) => `    ${name}) words="${[...actions, ...options].join(" ")}" ;;`,
  )
  return `# toolwright: completion for bash. Put into ~/.bashrc: eval "$(toolwright completion bash)"
_toolwright() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
    *) words="" ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="${[...commands.map(({ name }) => name), "help"].join(" ")}"; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [ "\${#COMPREPLY[@]}" -eq 0 ]; then COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -F _toolwright toolwright
`
}

function zsh(commands: readonly Completed[]): string {
  const described = commands.map(({ name, summary }) => `'${name}:${quoted(summary).replaceAll(":", "\\:")}'`)
  const cases = commands.map(
    ({ name, actions, options }) => `      ${name}) compadd -- ${[...actions, ...options].join(" ")} ;;`,
  )
  return `#compdef toolwright
# toolwright: completion for zsh. Put into ~/.zshrc: eval "$(toolwright completion zsh)"
_toolwright() {
  if (( CURRENT == 2 )); then
    local -a commands=(${described.join(" ")} 'help:Show a command, options or settings')
    _describe command commands
  else
    case "$words[2]" in
${cases.join("\n")}
    esac
    _files
  fi
}
compdef _toolwright toolwright
`
}

function fish(commands: readonly Completed[]): string {
  const lines = commands.flatMap(({ name, summary, actions, options }) => [
    `complete -c toolwright -n __fish_use_subcommand -a ${name} -d '${quoted(summary)}'`,
    ...actions.map((action) => `complete -c toolwright -n '__fish_seen_subcommand_from ${name}' -a ${action}`),
    ...options.map((option) => `complete -c toolwright -n '__fish_seen_subcommand_from ${name}' -l ${option.slice(2)}`),
  ])
  return `# toolwright: completion for fish. Put into ~/.config/fish/config.fish: toolwright completion fish | source
complete -c toolwright -n __fish_use_subcommand -a help -d 'Show a command, options or settings'
${lines.join("\n")}
`
}

function quoted(text: string): string {
  return text.replaceAll("'", "'\\''")
}
