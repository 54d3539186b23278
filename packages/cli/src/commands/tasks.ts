import { resolve } from "node:path"
import type { Configuration } from "@toolwright/runtime"
import type { TaskAccess } from "@toolwright/runtime/tasks"
import { TASK_STATES, type TaskFilter, type TaskQueue, type TaskRow } from "@toolwright/store"
import { EXIT, type Command, type Invocation } from "../command.ts"
import { parseOptions, usageError, type OptionDeclarations, type OptionValues } from "../options.ts"
import { TASK_LIMITS } from "../tasks/limit-options.ts"
import { databaseFlag } from "@toolwright/runtime/database-flag"
import { factsOf, noTasks, summaryLine, taskTree } from "../tasks/lines.ts"
import { configurationFor, WORKSPACE_OPTIONS } from "../settings-options.ts"
import { usageText } from "../usage.ts"

const OPTIONS = {
  agent: { type: "string", value: "name", description: "Of add: who does it (assistant); of list: only this agent's" },
  file: { type: "string", multiple: true, value: "path", description: "Of add: file that the agent file-owner owns" },
  priority: { type: "string", value: "n", description: "Of add: higher ones first (0)" },
  after: { type: "string", multiple: true, value: "id", description: "Of add: a task that has to be done first" },
  parent: { type: "string", value: "id", description: "Of add: the task that asks for it; of list: only its tasks" },
  workspace: { type: "string", value: "dir", description: "Of add: the folder that it is done in (the current one)" },
  worktree: {
    type: "boolean",
    description: "Of add: in a git worktree and branch of its own, merged at the end",
  },
  state: { type: "string", value: "state", description: "Of list: only tasks in this state" },
  plan: { type: "string", value: "id", description: "Of list: only tasks of this plan" },
  limit: { type: "string", value: "n", description: "Of list: how many at most (50)" },
  watch: { type: "boolean", description: "Go on showing what changes until all have ended" },
  json: { type: "boolean", description: "Print JSON" },
  ...TASK_LIMITS,
  ...WORKSPACE_OPTIONS,
} as const satisfies OptionDeclarations

type Values = OptionValues<typeof OPTIONS>

export const tasksCommand: Command = {
  name: "tasks",
  summary: "Add, list, show, cancel or retry tasks for workers",
  usage: usageText({
    synopsis: [
      "tasks [list] [options]",
      'tasks add "<task>" [options]',
      "tasks show|watch [id|latest] [options]",
      "tasks cancel|retry <id|latest> [options]",
    ],
    description: "Tasks are done by a worker ('toolwright work'). Of an id its beginning is enough.",
    options: OPTIONS,
    examples: [
      { line: 'toolwright tasks add "make the test pass" --agent builder', does: "Prints the task's id" },
      { line: "toolwright tasks --watch", does: "The tasks as a tree, as they go on" },
    ],
  }),
  async run(invocation) {
    const { values, positionals } = parseOptions(invocation.args, OPTIONS, { max: 2 })
    const [action = "list", what] = positionals
    const run = ACTIONS[action]
    if (run === undefined) {
      throw usageError(`'tasks ${action}' is not known.`, `Use one of: ${Object.keys(ACTIONS).join(", ")}.`)
    }
    const [{ tasksFor }, { configuration }] = await Promise.all([
      import("@toolwright/runtime/tasks"),
      configurationFor(invocation, values),
    ])
    const access = tasksFor(configuration, invocation)
    try {
      return await run({ invocation, values, configuration, access, what })
    } finally {
      await access.close()
    }
  },
}

interface Asked {
  invocation: Invocation
  values: Values
  configuration: Configuration
  access: TaskAccess
  what: string | undefined
}

const ACTIONS: Readonly<Record<string, (asked: Asked) => Promise<number>>> = { add, list, show, watch, cancel, retry }

async function add(asked: Asked): Promise<number> {
  const { invocation, values, configuration, access, what } = asked
  if (what === undefined) throw usageError("What is to be done?", 'Say it in quotes: toolwright tasks add "…"')
  const [{ taskInput }, { agentsFor, givenTask }] = await Promise.all([
    import("@toolwright/runtime/tasks"),
    import("@toolwright/runtime"),
  ])
  const { agent = "assistant", file, parent, key, after } = values
  const agents = await agentsFor(configuration, { cwd: invocation.cwd, tasks: access })
  const profile = await agents.find(agent)
  givenTask(profile, what, file === undefined ? undefined : await agents.filesFor(profile, file))
  const queue = await access.open()
  const full = async (id: string): Promise<string> => (await queue.find(id)).id
  const workspace = values.workspace === undefined ? access.workspace : resolve(invocation.cwd, values.workspace)
  const [priority, tries, seconds] = [number(values, "priority"), number(values, "tries", 1), number(values, "in", 0)]
  const row = await queue.add({
    agent,
    input: taskInput({ task: what, files: file, worktree: values.worktree }),
    ...(priority === undefined ? {} : { priority }),
    ...(tries === undefined ? {} : { maxAttempts: tries }),
    ...(seconds === undefined ? {} : { notBefore: Date.now() + seconds * 1_000 }),
    ...(parent === undefined ? {} : { parent: await full(parent) }),
    ...(after === undefined ? {} : { after: await Promise.all(after.map(full)) }),
    ...(key === undefined ? {} : { idempotencyKey: key }),
    ...(workspace === undefined ? {} : { workspace }),
    ...budgetIn(values),
  })
  if (values.json === true) await printJson(invocation, access, row)
  else invocation.stdout.write(`${row.id}\n${values.watch === true ? "" : whatComes(row, invocation)}`)
  return values.watch === true ? follow(asked, row.id) : EXIT.success
}

/** What a person wants to know of a task that was added; a program wants its id alone. */
function whatComes({ id, agent }: TaskRow, { isTTY }: Invocation): string {
  if (!isTTY.stdout) return ""
  return (
    `It waits for a worker, which has ${agent} do it: 'toolwright work', or 'toolwright ui' with a model.\n` +
    `How it stands: toolwright tasks show ${id}\n`
  )
}

function budgetIn(values: Values) {
  const [rounds, tokens, seconds] = [
    number(values, "rounds", 1),
    number(values, "tokens", 1),
    number(values, "seconds", 1),
  ]
  const budget = {
    ...(rounds === undefined ? {} : { rounds }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(values.money === undefined ? {} : { money: moneyIn(values.money) }),
    ...(seconds === undefined ? {} : { milliseconds: seconds * 1_000 }),
  }
  return Object.keys(budget).length === 0 ? {} : { budget }
}

async function list(asked: Asked): Promise<number> {
  const { invocation, values, access } = asked
  const { stdout } = invocation
  checkState(values)
  const queue = await access.look()
  if (values.watch === true && queue !== undefined) return follow(asked)
  const rows = ((await queue?.list(await filterOf(values, queue))) ?? []).map((row) => access.shown(row))
  if (values.json === true) {
    const { taskView } = await import("@toolwright/runtime/tasks")
    const after = await queue?.dependencies(rows.map(({ id }) => id))
    const views = rows.map((row) => taskView(row, after?.get(row.id)))
    stdout.write(`${JSON.stringify(views, null, 2)}\n`)
  } else if (rows.length === 0) stdout.write(`${nothingListed(values, access.target)}\n`)
  else for (const line of taskTree(rows, invocation)) stdout.write(`${line}\n`)
  return EXIT.success
}

function nothingListed({ agent, plan, parent, state }: Values, target: string): string {
  const asked = [agent, plan, parent, state].some((each) => each !== undefined)
  return asked ? `None of the tasks in ${target} is of that kind; 'toolwright tasks' lists all.` : noTasks(target)
}

async function filterOf(values: Values, queue: TaskQueue): Promise<TaskFilter> {
  const { agent, plan, parent } = values
  const state = checkState(values)
  return {
    limit: number(values, "limit", 1) ?? 50,
    ...(agent === undefined ? {} : { agent }),
    ...(plan === undefined ? {} : { plan }),
    ...(parent === undefined ? {} : { parent: (await queue.find(parent)).id }),
    ...(state === undefined ? {} : { state }),
  }
}

/** @throws ToolwrightError `USAGE` */
function checkState({ state }: Values) {
  const known = TASK_STATES.find((each) => each === state)
  if (state === undefined || known !== undefined) return known
  throw usageError(`No task is ever '${state}'.`, `The states are ${TASK_STATES.join(", ")}.`)
}

async function show(asked: Asked): Promise<number> {
  const { invocation, values, access, what } = asked
  const queue = await access.open()
  const row = access.shown(await found(queue, what ?? "latest"))
  if (values.watch === true) return follow(asked, row.id)
  if (values.json === true) await printJson(invocation, access, row)
  else {
    const after = (await queue.dependencies([row.id])).get(row.id)
    const children = (await queue.list({ parent: row.id, limit: 1_000 })).map((child) => access.shown(child))
    const { askedTree } = await import("../render/asked.ts")
    const { listRuns } = await import("@toolwright/runtime")
    const log = await access.log.open()
    const runs = row.run === null ? [] : await askedTree((askedBy) => listRuns(log, { askedBy, limit: 200 }), row.run)
    const there = databaseFlag(access.target, invocation.cwd)
    for (const line of [...factsOf(row, after, children, there), ...runs]) invocation.stdout.write(`${line}\n`)
  }
  return EXIT.success
}

async function watch(asked: Asked): Promise<number> {
  const { access, what } = asked
  return follow(asked, what === undefined ? undefined : (await found(await access.open(), what)).id)
}

async function cancel(asked: Asked): Promise<number> {
  const queue = await asked.access.open()
  return told(asked, await queue.cancel((await found(queue, asked.what)).id))
}

async function retry(asked: Asked): Promise<number> {
  const queue = await asked.access.open()
  return told(asked, await queue.retry((await found(queue, asked.what)).id))
}

async function told({ invocation, values, access }: Asked, row: TaskRow): Promise<number> {
  if (values.json === true) await printJson(invocation, access, row)
  else invocation.stdout.write(`${summaryLine(access.shown(row))}\n`)
  return EXIT.success
}

async function follow({ invocation, values, access }: Asked, root?: string): Promise<number> {
  const { watchTasks } = await import("../tasks/watch.ts")
  const which = root === undefined ? { filter: await filterOf(values, await access.open()) } : { root }
  return watchTasks(invocation, access, which)
}

function found(queue: TaskQueue, id: string | undefined): Promise<TaskRow> {
  if (id === undefined) throw usageError("Which task?", "Give its id, or 'latest'; 'toolwright tasks' lists them.")
  return queue.find(id)
}

async function printJson({ stdout }: Invocation, access: TaskAccess, row: TaskRow): Promise<void> {
  const { taskView } = await import("@toolwright/runtime/tasks")
  const after = (await (await access.open()).dependencies([row.id])).get(row.id)
  stdout.write(`${JSON.stringify(taskView(access.shown(row), after), null, 2)}\n`)
}

/** @throws ToolwrightError `USAGE` */
function moneyIn(given: string): number {
  const value = Number(given)
  if (Number.isFinite(value) && value > 0) return value
  throw usageError(`--money must be a number above 0, not '${given}'.`)
}

/** @throws ToolwrightError `USAGE` */
function number(values: Values, name: keyof Values, least = Number.MIN_SAFE_INTEGER): number | undefined {
  const given = values[name]
  if (given === undefined) return undefined
  const value = Number(given)
  if (Number.isSafeInteger(value) && value >= least) return value
  throw usageError(`--${name} must be a whole number${least < 0 ? "" : ` from ${least}`}, not '${String(given)}'.`)
}
