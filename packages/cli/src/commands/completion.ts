import { EXIT, type Command, type CommandEntry } from "../command.ts"
import { parseOptions, usageError } from "../options.ts"
import { usageText } from "../usage.ts"

/** @param all the commands that are completed */
export const completionCommand = (all: readonly CommandEntry[]): Command => ({
  name: "completion",
  summary: "Write the script that completes commands and options in bash, zsh or fish",
  usage: usageText({
    synopsis: ["completion bash|zsh|fish"],
    description: "The script holds all words, so nothing is started while you type. Write it anew after an update.",
    examples: [
      { line: 'eval "$(toolwright completion bash)"', does: "In ~/.bashrc; zsh likewise in ~/.zshrc" },
      { line: "toolwright completion fish | source", does: "In ~/.config/fish/config.fish" },
    ],
  }),
  async run({ args, stdout }) {
    const [shell] = parseOptions(args, {}, { max: 1 }).positionals
    const { completionScript, isShell } = await import("../completion.ts")
    if (!isShell(shell)) throw usageError("For which shell?", "Write one of: bash, zsh, fish.")
    stdout.write(await completionScript(shell, all))
    return EXIT.success
  },
})
