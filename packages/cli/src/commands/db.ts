import { EXIT, type Command, type Invocation } from "../command.ts"
import { parseOptions, usageError, type OptionDeclarations, type OptionValues } from "../options.ts"
import { WORKSPACE_OPTIONS } from "../settings-options.ts"
import { usageText } from "../usage.ts"
import { withoutTools } from "../without-tools.ts"

const OPTIONS = {
  json: { type: "boolean", description: "Of status: print JSON" },
  ...WORKSPACE_OPTIONS,
} as const satisfies OptionDeclarations

export const dbCommand: Command = {
  name: "db",
  summary: "Show, bring up to date or export the database of runs",
  usage: usageText({
    synopsis: ["db status [options]", "db migrate [options]", "db export [options]", "db adopt [options]"],
    description:
      "Runs, tasks and conversations are kept in .toolwright/state.sqlite of the workspace, or where --database " +
      "says. It is brought up to\n" +
      "date by whatever writes to it; 'migrate' does so by hand. 'export' prints every row as a line of JSON, " +
      "with the name of its table.\n" +
      "A database that came with the folder, as with a clone, is not believed: what it says was done or " +
      "permitted may be made up. 'adopt'\n" +
      "makes it yours, for one of your own whose folder was moved.",
    options: OPTIONS,
    examples: [
      { line: "toolwright db status", does: "Where it is, and what is in it" },
      { line: "toolwright db export > backup.jsonl", does: "Everything, as text" },
    ],
  }),
  async run(invocation) {
    const { values, positionals } = parseOptions(invocation.args, OPTIONS, { max: 1 })
    const [action] = positionals
    if (action !== "status" && action !== "migrate" && action !== "export" && action !== "adopt")
      throw usageError("What is to be done?", "Use 'db status', 'db migrate', 'db export' or 'db adopt'.")
    return database(invocation, values, action)
  },
}

async function database(
  invocation: Invocation,
  values: OptionValues<typeof OPTIONS>,
  action: "status" | "migrate" | "export" | "adopt",
): Promise<number> {
  const { stdout } = invocation
  const store = await import("@toolwright/store")
  await using records = await withoutTools(invocation, values)
  const { log } = records
  if (action === "adopt") {
    await log.adopt()
    stdout.write(`${log.target} is yours.\n`)
    return EXIT.success
  }
  if (action === "migrate") {
    const opened = await log.open()
    const { applied } = await store.migrationStatus(opened.database)
    stdout.write(`${opened.database.name} is up to date: ${applied.join(", ")}\n`)
    return EXIT.success
  }
  const opened = await log.look()
  if (action === "export") {
    if (opened !== undefined)
      for await (const row of store.exportRows(opened.database)) stdout.write(`${JSON.stringify(row)}\n`)
    return EXIT.success
  }
  const name = opened?.database.name ?? log.target
  const counts = opened === undefined ? {} : await store.countRows(opened.database)
  const { applied, pending } =
    opened === undefined ? { applied: [], pending: [] } : await store.migrationStatus(opened.database)
  if (values.json === true)
    stdout.write(`${JSON.stringify({ database: name, applied, pending, rows: counts }, null, 2)}\n`)
  else {
    stdout.write(`${name}${opened === undefined ? ": nothing is there yet" : ""}\n`)
    for (const [table, rows] of Object.entries(counts)) stdout.write(`  ${table.padEnd(24)}${rows}\n`)
  }
  return EXIT.success
}
