import { converse } from "../chat/session.ts"
import type { Command } from "../command.ts"
import { parseOptions, type OptionDeclarations } from "../options.ts"
import { neutralise } from "../render/neutralise.ts"
import { CONFIGURATION_OPTIONS, configurationFor } from "../settings-options.ts"
import { usageText } from "../usage.ts"

const OPTIONS = {
  agent: {
    type: "string",
    value: "name",
    description: "Agent that answers: assistant (unless given), or another that 'toolwright agents' lists",
  },
  image: { type: "string", multiple: true, value: "file", description: "Picture that belongs to the first request" },
  "dry-run": { type: "boolean", description: "Begin with calls that are shown and not run; /dry changes it" },
  record: { type: "boolean", description: "Keep a record of each turn (on; --no-record turns it off)" },
  ...CONFIGURATION_OPTIONS,
} as const satisfies OptionDeclarations

export const chatCommand: Command = {
  name: "chat",
  summary: "Talk to a model that has the tools of this workspace",
  usage: usageText({
    synopsis: ["chat [options]"],
    description:
      "Reads requests line by line and shows what the model writes and calls while it is decoded. The first line " +
      "says which model\n" +
      "answers. /help lists the commands: /tools, /model, /clear, /dry, /image, /exit. Ctrl-C stops an answer, " +
      "twice it leaves;\n" +
      "a second signal ends the process, and all that it started, at once.\n" +
      "On a terminal you are asked about calls that need approval (y/N). From a pipe each line is a request, it " +
      "ends with the input,\n" +
      "what needs approval is denied, and the exit code is that of the last task, as 'run' gives it.",
    options: OPTIONS,
    examples: [
      { line: "toolwright chat", does: "With the configured model" },
      {
        line: "toolwright chat --model qwen2.5-coder:7b --base-url http://localhost:11434/v1 --agent reviewer",
        does: "With one that Ollama serves, which may only read",
      },
      {
        line: "printf 'find TODO in src\\n' | toolwright chat --dry-run",
        does: "One request from a pipe, its calls shown and not run",
      },
    ],
  }),
  async run(invocation) {
    const { values } = parseOptions(invocation.args, OPTIONS, { max: 0 })
    const { configuration } = await configurationFor(invocation, values)
    return converse(invocation, {
      agent: (values as { agent?: string }).agent ?? "assistant",
      dryRun: values["dry-run"] === true,
      images: values.image ?? [],
      async assemble(approve) {
        const { createToolwright } = await import("@toolwright/runtime")
        return createToolwright({
          ...configuration,
          withBuiltins: true,
          cwd: invocation.cwd,
          env: invocation.env,
          record: values.record !== false,
          log: (line) => void invocation.stderr.write(`${neutralise(line)}\n`),
          ...(approve === undefined ? {} : { approve }),
        })
      },
    })
  },
}
