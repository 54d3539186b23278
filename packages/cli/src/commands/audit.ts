import { EXIT, type Command } from "../command.ts"
import { parseOptions, usageError, type OptionDeclarations } from "../options.ts"
import { neutralise } from "../render/neutralise.ts"
import { WORKSPACE_OPTIONS } from "../settings-options.ts"
import { usageText } from "../usage.ts"
import { withoutTools } from "../without-tools.ts"

const OPTIONS = {
  json: { type: "boolean", description: "Print JSON: what was found of each run" },
  ...WORKSPACE_OPTIONS,
} as const satisfies OptionDeclarations

/** Runs that are read in one go. */
const PAGE = 200

export const auditCommand: Command = {
  name: "audit",
  summary: "Check that the records are as they were written",
  usage: usageText({
    synopsis: ["audit verify [<id>|latest] [options]"],
    description:
      "Each event of a run holds a hash of itself and of the one before, so that nothing can be changed, taken out or put in without a\n" +
      "trace; bodies that were erased leave the chain whole. Whoever has the database could write it anew: note the last hash, which is\n" +
      "printed, where they cannot. Without an id, all runs are checked. Exit code 1 means that a record is not as it was written.",
    options: OPTIONS,
    examples: [{ line: "toolwright audit verify", does: "Check every record of this workspace" }],
  }),
  async run(invocation) {
    const { values, positionals } = parseOptions(invocation.args, OPTIONS, { max: 2 })
    const [action, id] = positionals
    if (action !== "verify") throw usageError("What is to be done?", "Use 'audit verify'.")
    const { stdout } = invocation
    const { verifyRun } = await import("@toolwright/store")
    await using toolwright = await withoutTools(invocation, values)
    const log = await toolwright.log.look()
    let [checked, broken] = [0, 0]
    const ids = async function* (): AsyncGenerator<string> {
      if (log === undefined) return
      if (id !== undefined) return yield (await log.find(id)).id
      for (let offset = 0; ; offset += PAGE) {
        const rows = await log.list({ limit: PAGE, offset })
        for (const row of rows) yield row.id
        if (rows.length < PAGE) return
      }
    }
    for await (const run of ids()) {
      const found = await verifyRun(log!.database, run)
      checked++
      if (found.broken !== undefined) broken++
      if (values.json === true) stdout.write(`${JSON.stringify(found)}\n`)
      else if (found.broken !== undefined)
        stdout.write(`${neutralise(run)}  broken at event ${found.broken.seq}: ${found.broken.reason}\n`)
      else if (id !== undefined)
        stdout.write(`${neutralise(run)}  ${found.events} events, ${found.erased} erased, last hash ${found.head}\n`)
    }
    if (values.json !== true) stdout.write(`${checked} checked, ${broken} not as written.\n`)
    return broken === 0 ? EXIT.success : EXIT.failure
  },
}
