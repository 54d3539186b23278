import type { RunLog } from "@toolwright/store"
import { EXIT, type Command, type Invocation } from "../command.ts"
import { parseOptions, usageError, type OptionDeclarations, type OptionValues } from "../options.ts"
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
    synopsis: ["audit verify [<id>|latest] [options]", "audit erase <id> <event> [options]"],
    description:
      "Each event of a run holds a hash of itself and of the one before, so that nothing can be changed, taken " +
      "out or put\n" +
      "in without a trace; what lists say of a run is compared with them. Whoever has the database could " +
      "write it anew,\n" +
      "or take out a whole run: note the last hash, which is printed, where they cannot. Without an id, all " +
      "runs are\n" +
      "checked. Exit code 1 means that a record is not as it was written.\n" +
      "'erase' takes out for good what an event holds, by its number, and the chain stays whole; what other " +
      "events share\n" +
      "with it is gone from them too. Other events, tasks, conversations and what undo keeps stay as they are.",
    options: OPTIONS,
    examples: [
      { line: "toolwright audit verify", does: "Check every record of this workspace" },
      { line: "toolwright audit erase latest 4", does: "Take a text out of the last run's record" },
    ],
  }),
  async run(invocation) {
    const { values, positionals } = parseOptions(invocation.args, OPTIONS, { max: 3 })
    const [action, id, event] = positionals
    if (action === "erase") return erase(invocation, values, id, event)
    if (action !== "verify" || event !== undefined)
      throw usageError("What is to be done?", "Use 'audit verify' or 'audit erase <id> <event>'.")
    return verify(invocation, values, id)
  },
}

type Values = OptionValues<typeof OPTIONS>

async function verify(invocation: Invocation, values: Values, id: string | undefined): Promise<number> {
  const { stdout } = invocation
  const { verifyRun } = await import("@toolwright/store")
  await using records = await withoutTools(invocation, values)
  const log = await records.log.look()
  let [checked, broken] = [0, 0]
  for await (const run of runsIn(log, id)) {
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
}

/** The run that is meant, or all of them. */
async function* runsIn(log: RunLog | undefined, id: string | undefined): AsyncGenerator<string> {
  if (log === undefined) return
  if (id !== undefined) return yield (await log.find(id)).id
  for (let offset = 0; ; offset += PAGE) {
    const rows = await log.list({ limit: PAGE, offset })
    for (const row of rows) yield row.id
    if (rows.length < PAGE) return
  }
}

async function erase(
  invocation: Invocation,
  values: Values,
  id: string | undefined,
  event: string | undefined,
): Promise<number> {
  const number = Number(event)
  if (id === undefined || !Number.isSafeInteger(number) || number < 1)
    throw usageError(
      "Which event of which run?",
      "Use 'audit erase <id> <event>'; 'toolwright runs show <id> --json' has the numbers as seq.",
    )
  const { eraseBody } = await import("@toolwright/store")
  await using records = await withoutTools(invocation, values)
  const { database, find } = await records.log.open()
  const run = (await find(id)).id
  const erased = await eraseBody(database, run, number)
  const { stdout } = invocation
  if (values.json === true) stdout.write(`${JSON.stringify({ run, event: number, erased })}\n`)
  else
    stdout.write(
      erased === 0
        ? `Event ${number} of ${neutralise(run)} holds nothing.\n`
        : `Erased from ${erased} ${erased === 1 ? "event" : "events"}: it cannot be had back.\n`,
    )
  return erased === 0 ? EXIT.failure : EXIT.success
}
