import { EXIT, type Command } from "../command.ts"
import { parseOptions, usageError, type OptionDeclarations } from "../options.ts"
import { neutralise } from "../render/neutralise.ts"
import { CONFIGURATION_OPTIONS, configurationFor } from "../settings-options.ts"
import { usageText } from "../usage.ts"

const OPTIONS = {
  tries: { type: "string", value: "n", description: "How often the model is asked to call a tool, in each way; 10" },
  json: { type: "boolean", description: "Print an object" },
  ...CONFIGURATION_OPTIONS,
} as const satisfies OptionDeclarations

const MOST_TRIES = 100

export const doctorCommand: Command = {
  name: "doctor",
  summary: "Find out what a model's server is, and whether the model calls tools when it is asked to",
  usage: usageText({
    synopsis: ["doctor [model] [options]"],
    description:
      "Asks a model's server what it is, which chat template and window the model has, and the model ten times " +
      "to call a tool: by the\n" +
      "server's own tool use, and with the tools written into the prompt. Says whether grammars hold it, and the " +
      "settings that follow.\n" +
      "What was found out is kept, and used by runs with --examined. The exit code is 0 where the model calls " +
      "tools in eight of ten tries.",
    options: OPTIONS,
    examples: [
      { line: "toolwright doctor --backend ollama", does: "Which models has it? Of a single one, as below" },
      {
        line: "toolwright doctor qwen2.5:7b --base-url http://localhost:11434/v1",
        does: "Can this model that Ollama serves use tools?",
      },
    ],
  }),
  async run(invocation) {
    const { values, positionals } = parseOptions(invocation.args, OPTIONS, { max: 1 })
    const tries = values.tries === undefined ? 10 : Number(values.tries)
    if (!Number.isInteger(tries) || tries < 1 || tries > MOST_TRIES)
      throw usageError(`--tries is a whole number from 1 to ${MOST_TRIES}.`)
    const named = positionals[0] === undefined ? values : { ...values, model: positionals[0] }
    const { configuration } = await configurationFor(invocation, named)
    const { examine, examinationText, keepExamination } = await import("@toolwright/runtime")
    const found = await examine(configuration, {
      tries,
      signal: invocation.signal,
      log: (line) => void invocation.stderr.write(`${neutralise(line)}\n`),
    })
    if (found.reachable) keepExamination(invocation.env, found)
    const text = values.json === true ? `${JSON.stringify(found, null, 2)}\n` : examinationText(found)
    invocation.stdout.write(neutralise(text))
    return found.usable ? EXIT.success : EXIT.failure
  },
}
