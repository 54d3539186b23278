import { loadConfiguration } from "@toolwright/runtime/configuration"
import { withBegunFlags } from "../begun-flags.ts"
import { EXIT, type Command } from "../command.ts"
import { parseOptions, type OptionDeclarations } from "../options.ts"
import { goingOn } from "../going-on.ts"
import { exitCodeOf, show, tellWays } from "../run-task.ts"
import { CONFIGURATION_OPTIONS, configurationFor, configurationInputs } from "../settings-options.ts"
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
      "It keeps its model and the flags that said where that is, unless others are given or configured, and what it " +
      "was permitted,\n" +
      "which flags can make stricter.",
    options: OPTIONS,
    examples: [{ line: "toolwright resume", does: "Go on with the last run" }],
  }),
  async run(invocation) {
    const parsed = parseOptions(invocation.args, OPTIONS, { max: 1 })
    const [id = "latest"] = parsed.positionals
    const json = parsed.values.json === true
    const found = await configurationFor(invocation, parsed.values)
    const values = await withBegunFlags(invocation, parsed.values, found.configuration, id)
    // What there is to ask or to say of the configuration was asked and said the first time.
    const { configuration } =
      values === parsed.values ? found : await loadConfiguration(configurationInputs(invocation, values))
    const { signal } = invocation
    await using toolwright = await goingOn(invocation, configuration)
    if (values["allow-tool"] !== undefined)
      invocation.stderr.write(
        "A run keeps what it was permitted at its beginning: --allow-tool permits it nothing more.\n",
      )
    const summary = await show(toolwright.resume(id, { signal }), invocation, json)
    if (summary !== undefined && !json) await tellWays(invocation, values, toolwright, summary)
    return summary === undefined ? EXIT.failure : exitCodeOf(summary)
  },
}
