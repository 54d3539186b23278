import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { messageOf } from "@toolwright/toolbox/errors"
import type { Toolwright } from "@toolwright/runtime"
import { EXIT, type Command, type Invocation } from "../command.ts"
import { parseOptions, usageError, type OptionDeclarations } from "../options.ts"
import { goingOn } from "../going-on.ts"
import { neutralise } from "../render/neutralise.ts"
import { exitCodeOf, show, tellRecord, tellWays } from "../run-task.ts"
import { CONFIGURATION_OPTIONS, configurationFor } from "../settings-options.ts"
import { usageText } from "../usage.ts"

const OPTIONS = {
  at: {
    type: "string",
    value: "seq",
    description: "The event that it branches off at; 'runs show --json' numbers them",
  },
  edit: { type: "string", value: "file", description: "Text in place of the result that this event holds" },
  "keep-files": { type: "boolean", description: "Leave files as they are, also what the run changed after that event" },
  json: { type: "boolean", description: "Print every event as a line of JSON" },
  ...CONFIGURATION_OPTIONS,
} as const satisfies OptionDeclarations

export const branchCommand: Command = {
  name: "branch",
  summary: "Go on from the middle of a run, otherwise than it did",
  usage: usageText({
    synopsis: ["branch [<run>|latest] --at <seq> [options]"],
    description:
      "A run of its own that shares what happened up to an event, back to the end of a round: none of it is done " +
      "again, and the\n" +
      "other run stays as it is. With another --model it shows how that one goes on; with --edit a result reads " +
      "otherwise.\n" +
      "What that run changed after the event is taken back first; 'toolwright undo list' has it.",
    options: OPTIONS,
    examples: [
      { line: "toolwright branch --at 12", does: "The last run once more, from its event 12 on" },
      { line: "toolwright branch --at 12 --edit answer.txt", does: "As if the call had brought this text" },
    ],
  }),
  async run(invocation) {
    const { values, positionals } = parseOptions(invocation.args, OPTIONS, { max: 1 })
    const { cwd, signal } = invocation
    const at = Number(values.at)
    if (!Number.isSafeInteger(at) || at < 1)
      throw usageError("--at is missing, or no number of an event.", "'toolwright runs show <run>' numbers them.")
    const edit = values.edit === undefined ? undefined : textOf(resolve(cwd, values.edit))
    const { configuration } = await configurationFor(invocation, values)
    await using toolwright = await goingOn(invocation, configuration)
    // Where no model answers nothing is begun that would wait for one.
    const run = positionals[0] ?? "latest"
    await toolwright.backend({ of: run })
    const options = { at, surface: "run", keepFiles: values["keep-files"] === true, onTakenBack: tell(invocation) }
    const id = await toolwright.branch(run, { ...options, ...(edit === undefined ? {} : { edit }) })
    const summary = await show(toolwright.resume(id, { signal }), invocation, values.json === true)
    if (values.json !== true) tellRecord(invocation, toolwright, id)
    if (summary !== undefined && values.json !== true) await tellWays(invocation, values, toolwright, summary)
    return summary === undefined ? EXIT.failure : exitCodeOf(summary)
  },
}

/** Says on standard error what lies otherwise now. */
function tell({ stderr }: Invocation): NonNullable<Parameters<Toolwright["branch"]>[1]["onTakenBack"]> {
  return ({ restored, refused }) => {
    if (restored.length > 0) stderr.write(`taken back first: ${restored.map(neutralise).join(", ")}\n`)
    for (const { path, reason } of refused) stderr.write(`${neutralise(path)} stays as it is: ${neutralise(reason)}\n`)
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (thrown) {
    throw usageError(
      `--edit names a file that cannot be read: ${messageOf(thrown)}`,
      "Give the text of the result in a file.",
    )
  }
}
