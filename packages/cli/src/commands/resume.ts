import { EXIT, type Command } from "../command.ts"
import { parseOptions, type OptionDeclarations } from "../options.ts"
import { goingOn } from "../going-on.ts"
import { exitCodeOf, show, tellWays } from "../run-task.ts"
import { CONFIGURATION_OPTIONS, configurationFor } from "../settings-options.ts"
import { usageText } from "../usage.ts"

const OPTIONS = {
  json: { type: "boolean", description: "Print every event as a line of JSON" },
  ...CONFIGURATION_OPTIONS,
} as const satisfies OptionDeclarations

export const resumeCommand: Command = {
  name: "resume",
  summary: "Go on with a run that was interrupted",
  usage: usageText({
    synopsis: ["resume [<id>|latest] [options]"],
    description:
      "A run whose process died goes on after the last step that is on record: nothing that was done is done " +
      "again. Of a call that was\n" +
      "under way, what its tool says of itself decides: what only reads, or may be repeated, is run again; what " +
      "can be asked is asked;\n" +
      "anything else counts as unknown, which the model is told and the summary names. 'toolwright runs' shows " +
      "which were interrupted.\n" +
      "It keeps its model, where just a server is named, and what it was permitted, which flags can make stricter.",
    options: OPTIONS,
    examples: [{ line: "toolwright resume", does: "Go on with the last run" }],
  }),
  async run(invocation) {
    const { values, positionals } = parseOptions(invocation.args, OPTIONS, { max: 1 })
    const { configuration } = await configurationFor(invocation, values)
    const { signal } = invocation
    await using toolwright = await goingOn(invocation, configuration)
    const [id = "latest"] = positionals
    if ((values as Readonly<Record<string, unknown>>)["allow-tool"] !== undefined)
      invocation.stderr.write(
        "A run keeps what it was permitted at its beginning: --allow-tool permits it nothing more.\n",
      )
    const summary = await show(toolwright.resume(id, { signal }), invocation, values.json === true)
    if (summary !== undefined && values.json !== true) await tellWays(invocation, values, toolwright, summary)
    return summary === undefined ? EXIT.failure : exitCodeOf(summary)
  },
}
