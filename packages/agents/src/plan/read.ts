import { cyclesIn, inOrder } from "@toolwright/store"
import { nearest, ToolwrightError } from "@toolwright/toolbox"
import { issuesIn, saidOf, type Mistake } from "../definition/read.ts"
import { PLAN_SCHEMA, type Plan } from "./plan.ts"

/** Mistakes of one kind that are told. */
const MOST_TOLD = 20
/** Characters that inputs may come to in all the places that name them: far more than any model would read. */
const MOST_FILLED = 4 * 1024 * 1024

const MOST_TASKS = PLAN_SCHEMA.properties!.tasks!.maxProperties as number

/** A plan that may be started: its inputs are filled in, and its tasks stand in levels. */
export interface ReadPlan extends Plan {
  /** Names of tasks that wait for nothing, then of those that wait for these alone, and so on. */
  levels: string[][]
}

/** One thing that is wrong with a plan, with the error that it would be by itself. */
export interface PlanMistake extends Mistake {
  error?: ToolwrightError
}

/** What a plan is read with. */
export interface PlanReading {
  /** What its inputs are this time. */
  said?: Readonly<Record<string, string>>
  /** Looks for further mistakes in as much of it as can be read. */
  more?: (plan: Pick<Plan, "agents" | "tasks">) => Promise<readonly PlanMistake[]>
  /** In which line a part of it stands, by its path. */
  lineOf?: ((path: string) => number | undefined) | undefined
}

/**
 * Reads a plan. All its mistakes are told at once, with their lines where these are known; a plan that is given back
 * has no cycle, names no task that it does not have, and gives no file to two of its agents.
 *
 * @throws ToolwrightError `INVALID_PLAN`, `TASK_CYCLE`, or what `more` has found where that is all
 */
export async function readPlan(value: unknown, { said = {}, more, lineOf }: PlanReading = {}): Promise<ReadPlan> {
  const wrong = await issuesIn(PLAN_SCHEMA, value)
  // Of what is no plan at all no further mistakes are told.
  const plan = wrong.length === 0 ? (value as Plan) : readable(value)
  const own = plan === undefined ? [] : await mistakesOf(plan, said, more)
  const mistakes: PlanMistake[] = [...wrong, ...own]
  if (mistakes.length > 0) throw refused(mistakes, lineOf)
  const read = value as Plan
  return { ...filledIn(read, said), levels: levelsOf(read) }
}

async function mistakesOf(
  plan: Plan,
  said: Readonly<Record<string, string>>,
  more: PlanReading["more"],
): Promise<PlanMistake[]> {
  const inputs = inputMistakes(plan, said)
  const found = [...inputs, ...taskMistakes(plan), ...ownerMistakes(plan), ...cycleMistakes(plan)]
  if (more === undefined) return found
  try {
    return [...found, ...(await more(inputs.length === 0 ? filledIn(plan, said) : withoutOpen(plan)))]
  } catch (error) {
    if (!ToolwrightError.isInstance(error)) throw error
    return [...found, { path: "", message: error.message, error }]
  }
}

/** As much of a plan as has the form of one; nothing where it is none, or too large. */
function readable(value: unknown): Plan | undefined {
  const { inputs, agents, tasks } = objectIn(value)
  const entries = Object.entries(objectIn(tasks))
  if (entries.length === 0 || entries.length > MOST_TASKS) return undefined
  const texts = (list: unknown): string[] =>
    Array.isArray(list) ? list.filter((each) => typeof each === "string").slice(0, MOST_TASKS) : []
  const text = (each: unknown): string => (typeof each === "string" ? each : "")
  return {
    name: "plan",
    inputs: mapped(inputs, (input) => (typeof input.default === "string" ? { default: input.default } : {})),
    agents: mapped(agents, ({ from, files, mode }) => ({
      ...(typeof from === "string" ? { from } : {}),
      ...(texts(files).length === 0 ? {} : { files: texts(files) }),
      ...(mode === "owns" || mode === "reads" || mode === "writes" ? { mode } : {}),
    })),
    tasks: mapped(tasks, ({ agent, task, after }) => ({ agent: text(agent), task: text(task), after: texts(after) })),
  }
}

function mapped<Result>(value: unknown, map: (inner: Record<string, unknown>) => Result): Record<string, Result> {
  const entries = Object.entries(objectIn(value)).slice(0, MOST_TASKS)
  return Object.fromEntries(entries.map(([name, inner]) => [name, map(objectIn(inner))]))
}

function objectIn(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

/** Without what stands or falls with inputs that are not said. */
function withoutOpen({ agents = {}, tasks }: Plan): Pick<Plan, "agents" | "tasks"> {
  const closed = <Inner>(record: Record<string, Inner>): Record<string, Inner> =>
    Object.fromEntries(Object.entries(record).filter((entry) => !/\{[A-Za-z]/.test(JSON.stringify(entry))))
  const bare = Object.entries(tasks).map(([name, task]): [string, Plan["tasks"][string]] => [
    name,
    { ...task, task: "" },
  ])
  return { agents: closed(agents), tasks: closed(Object.fromEntries(bare)) }
}

function inputMistakes({ inputs = {} }: Plan, said: Readonly<Record<string, string>>): PlanMistake[] {
  const unknown = Object.keys(said)
    .filter((name) => !Object.hasOwn(inputs, name))
    .slice(0, MOST_TOLD)
  const missing = Object.entries(inputs).filter(
    ([name, { default: fallback }]) => !Object.hasOwn(said, name) && fallback === undefined,
  )
  return [
    ...unknown.map((name) => ({
      path: "",
      message: `it has no input '${name}'.${suggested(name, Object.keys(inputs))}`,
    })),
    ...missing.map(([name, { description }]) => {
      const what = description === undefined ? "" : ` (${description})`
      return { path: `inputs.${name}`, message: `the input '${name}'${what} has to be said: --set ${name}="…"` }
    }),
  ]
}

function taskMistakes({ tasks }: Plan): PlanMistake[] {
  const names = Object.keys(tasks)
  const unknown = Object.entries(tasks).flatMap(([name, { after = [] }]) =>
    after.flatMap((other, at) => (Object.hasOwn(tasks, other) ? [] : [{ name, other, at }])),
  )
  // What is near to a name is looked for among all: for thousands of names that would take minutes.
  return unknown.slice(0, MOST_TOLD).map(({ name, other, at }) => ({
    path: `tasks.${name}.after[${at}]`,
    message: `it comes after '${other}', which is no task of the plan.${suggested(other, names)}`,
  }))
}

function ownerMistakes({ agents = {} }: Plan): PlanMistake[] {
  const owners = new Map<string, string>()
  const mistakes: PlanMistake[] = []
  for (const [name, { files = [] }] of Object.entries(agents)) {
    for (const [at, file] of files.map((each) => each.replace(/^(?:\.\/)+/, "")).entries()) {
      const owner = owners.get(file)
      if (owner !== undefined && owner !== name)
        mistakes.push({
          path: `agents.${name}.files[${at}]`,
          message: `'${file}' is owned by '${owner}'; a file has one owner`,
        })
      owners.set(file, name)
    }
  }
  return mistakes
}

function cycleMistakes(plan: Plan): PlanMistake[] {
  return cyclesIn(stepsOf(plan))
    .slice(0, MOST_TOLD)
    .map(({ id, error }) => ({ path: `tasks.${id}.after`, message: error.message, error }))
}

const stepsOf = ({ tasks }: Plan) => Object.entries(tasks).map(([id, { after = [] }]) => ({ id, after }))

function suggested(name: string, known: readonly string[]): string {
  const close = nearest(name, known)[0]
  return close === undefined ? "" : ` Did you mean '${close}'?`
}

function levelsOf(plan: Plan): string[][] {
  const levels: string[][] = []
  const at = new Map<string, number>()
  for (const { id, after } of inOrder(stepsOf(plan))) {
    const level = Math.max(-1, ...after.map((other) => at.get(other)!)) + 1
    at.set(id, level)
    ;(levels[level] ??= []).push(id)
  }
  return levels
}

/** Puts what the inputs are in the place of their names; braces that name none are left alone. */
function filledIn(plan: Plan, said: Readonly<Record<string, string>>): Plan {
  const { inputs = {} } = plan
  const values = new Map(
    Object.entries(inputs).map(([name, { default: fallback }]) => [
      name,
      Object.hasOwn(said, name) ? said[name]! : fallback!,
    ]),
  )
  if (values.size === 0) return plan
  let room = MOST_FILLED
  const put = (whole: string, name: string): string => {
    const text = values.get(name) ?? whole
    room -= text.length
    if (room < 0)
      throw invalid([`its inputs come to more than ${MOST_FILLED} characters in the places that name them: say less`])
    return text
  }
  const fill = (value: unknown): unknown => {
    if (typeof value === "string") return value.replaceAll(/\{([A-Za-z][\w-]*)\}/g, put)
    if (Array.isArray(value)) return value.map(fill)
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [fill(key), fill(inner)]))
  }
  const { agents, tasks } = plan
  return {
    ...plan,
    ...(agents === undefined ? {} : { agents: fill(agents) as NonNullable<Plan["agents"]> }),
    tasks: fill(tasks) as Plan["tasks"],
  }
}

/** The error that a single mistake is by itself; all of them together, in the order of their lines, otherwise. */
function refused(mistakes: readonly PlanMistake[], lineOf: PlanReading["lineOf"]): ToolwrightError {
  const [first] = mistakes
  if (mistakes.length === 1 && first?.error !== undefined && lineOf === undefined) return first.error
  const placed = mistakes.map((mistake) => ({ ...mistake, line: lineOf?.(mistake.path) }))
  const told = new Set(
    placed
      .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))
      .map((mistake) => `${mistake.line === undefined ? "" : `line ${mistake.line}: `}${saidOf(mistake)}`),
  )
  const alike = mistakes.every(({ error }) => error?.code === first?.error?.code)
  return invalid([...told], alike ? first?.error?.code : undefined)
}

function invalid(mistakes: readonly string[], code: string = "INVALID_PLAN"): ToolwrightError {
  return new ToolwrightError(code, `The plan cannot be started:\n${mistakes.map((each) => `- ${each}`).join("\n")}`, {
    hint: "docs/plans.md tells what a plan is made of; 'toolwright plan new' writes one to begin with.",
  })
}
