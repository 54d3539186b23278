import type { ApprovalRow } from "@toolwright/store"
import { userInfo } from "node:os"
import { EXIT, type Command, type Invocation } from "../command.ts"
import { parseOptions, usageError, type OptionDeclarations, type OptionValues } from "../options.ts"
import { neutralise } from "../render/neutralise.ts"
import { WORKSPACE_OPTIONS } from "../settings-options.ts"
import { usageText } from "../usage.ts"
import { withoutTools } from "../without-tools.ts"

const OPTIONS = {
  json: { type: "boolean", description: "Print JSON" },
  all: { type: "boolean", description: "Of list: those too that were answered, have expired or were withdrawn" },
  note: { type: "string", value: "text", description: "Why, for the model and the record" },
  ...WORKSPACE_OPTIONS,
} as const satisfies OptionDeclarations

export const approvalsCommand: Command = {
  name: "approvals",
  summary: "Show what runs ask, and answer it",
  usage: usageText({
    synopsis: ["approvals list [options]", "approvals allow <id> [options]", "approvals deny <id> [options]"],
    description:
      "With '--approvals wait' a run that nobody watches waits where a call needs approval, without a process, " +
      "for up to seven days. The\n" +
      "answer counts for that call with these arguments, once; 'toolwright resume' then goes on. Of calls that " +
      "hold a secret none is asked.",
    options: OPTIONS,
    examples: [
      { line: "toolwright approvals list", does: "What waits for an answer" },
      { line: 'toolwright approvals deny 3f2a --note "use the staging server"', does: "No, and why" },
    ],
  }),
  async run(invocation) {
    const { values, positionals } = parseOptions(invocation.args, OPTIONS, { max: 2 })
    const [action = "list", id] = positionals
    if (action !== "list" && action !== "allow" && action !== "deny")
      throw usageError(
        `'approvals ${action}' is not known.`,
        "Use 'approvals list', 'approvals allow' or 'approvals deny'.",
      )
    if (action !== "list" && id === undefined)
      throw usageError("Which question?", "Give its id; 'toolwright approvals list' shows them.")
    return action === "list"
      ? list(invocation, values)
      : answer(invocation, values, { id: id!, allow: action === "allow" })
  },
}

type Values = OptionValues<typeof OPTIONS>

async function list(invocation: Invocation, values: Values): Promise<number> {
  await using records = await withoutTools(invocation, values)
  const rows = await records.approvals.list(values.all === true ? { state: "all" } : {})
  const { stdout } = invocation
  if (values.json === true) stdout.write(`${JSON.stringify(rows, null, 2)}\n`)
  else if (rows.length === 0) stdout.write("Nothing waits for an answer.\n")
  else for (const row of rows) stdout.write(`${line(row)}\n`)
  return EXIT.success
}

/** What goes on with a task; those of a plan are named by it, and what each is called there. */
function workerFor(task: string): string {
  const plan = /^(.+)\.[^.]+$/.exec(task)?.[1]
  return plan === undefined ? "toolwright work --once" : `toolwright plan resume ${plan}`
}

async function answer(
  invocation: Invocation,
  values: Values,
  { id, allow }: { id: string; allow: boolean },
): Promise<number> {
  await using records = await withoutTools(invocation, values)
  const given = { by: userInfo().username, ...(values.note === undefined ? {} : { note: values.note }) }
  const row = await records.approvals[allow ? "allow" : "deny"](id, given)
  if (values.json === true) invocation.stdout.write(`${JSON.stringify(row, null, 2)}\n`)
  else {
    const next =
      row.task === null
        ? `Go on with: toolwright resume ${row.run}`
        : `A worker goes on with it. Where none runs: ${workerFor(row.task)}`
    invocation.stdout.write(`${line(row)}\n${next}\n`)
  }
  return EXIT.success
}

const MOST_SHOWN = 200

function line({ id, state, tool, arguments: args, run, created_at: at, note }: ApprovalRow): string {
  const shown = args.length > MOST_SHOWN ? `${args.slice(0, MOST_SHOWN)}…` : args
  const since = new Date(at).toISOString().slice(0, 16)
  return neutralise(`${id}  ${state}  ${since}  ${tool} ${shown}${note === null ? "" : `  (${note})`}  in run ${run}`)
}
