import { inOrder } from "@toolwright/store"
import { nearest, ToolwrightError } from "@toolwright/toolbox"
import { mistakesIn } from "../definition/read.ts"
import { PLAN_SCHEMA, type Plan } from "./plan.ts"

/** Mistakes of one kind that are told. */
const MOST_TOLD = 20
/** Characters that inputs may come to in all the places that name them: far more than any model would read. */
const MOST_FILLED = 4 * 1024 * 1024

/** A plan that may be started: its inputs are filled in, and its tasks stand in levels. */
export interface ReadPlan extends Plan {
  /** Names of tasks that wait for nothing, then of those that wait for these alone, and so on. */
  levels: string[][]
}

/**
 * Reads a plan. Its mistakes are told at once; a plan that is given back has no cycle, names no task that it does not have,
 * and gives no file to two of its agents.
 *
 * @param said what its inputs are this time
 * @throws ToolwrightError `INVALID_PLAN`, `TASK_CYCLE`
 */
export async function readPlan(value: unknown, said: Readonly<Record<string, string>> = {}): Promise<ReadPlan> {
  const wrong = await mistakesIn(PLAN_SCHEMA, value)
  if (wrong.length > 0) throw invalid(wrong)
  const plan = value as Plan
  const mistakes = [...inputMistakes(plan, said), ...taskMistakes(plan), ...ownerMistakes(plan)]
  if (mistakes.length > 0) throw invalid(mistakes)
  inOrder(Object.entries(plan.tasks).map(([id, { after = [] }]) => ({ id, after })))
  return { ...filledIn(plan, said), levels: levelsOf(plan) }
}

function inputMistakes({ inputs = {} }: Plan, said: Readonly<Record<string, string>>): string[] {
  const unknown = Object.keys(said)
    .filter((name) => !Object.hasOwn(inputs, name))
    .slice(0, MOST_TOLD)
  const missing = Object.entries(inputs).filter(
    ([name, { default: fallback }]) => !Object.hasOwn(said, name) && fallback === undefined,
  )
  return [
    ...unknown.map((name) => `it has no input '${name}'.${suggested(name, Object.keys(inputs))}`),
    ...missing.map(([name, { description }]) => {
      const what = description === undefined ? "" : ` (${description})`
      return `the input '${name}'${what} has to be said: --set ${name}="…"`
    }),
  ]
}

function taskMistakes({ tasks }: Plan): string[] {
  const names = Object.keys(tasks)
  const unknown = Object.entries(tasks).flatMap(([name, { after = [] }]) =>
    after.filter((other) => !Object.hasOwn(tasks, other)).map((other) => ({ name, other })),
  )
  // What is near to a name is looked for among all: for thousands of names that would take minutes.
  return unknown
    .slice(0, MOST_TOLD)
    .map(
      ({ name, other }) =>
        `tasks.${name}: it comes after '${other}', which is no task of the plan.${suggested(other, names)}`,
    )
}

function ownerMistakes({ agents = {} }: Plan): string[] {
  const owners = new Map<string, string>()
  const mistakes: string[] = []
  for (const [name, { files = [] }] of Object.entries(agents)) {
    for (const file of files.map((each) => each.replace(/^(?:\.\/)+/, ""))) {
      const owner = owners.get(file)
      if (owner !== undefined && owner !== name)
        mistakes.push(`agents.${name}: '${file}' is owned by '${owner}'; a file has one owner`)
      owners.set(file, name)
    }
  }
  return mistakes
}

function suggested(name: string, known: readonly string[]): string {
  const close = nearest(name, known)[0]
  return close === undefined ? "" : ` Did you mean '${close}'?`
}

function levelsOf({ tasks }: Plan): string[][] {
  const levels: string[][] = []
  const at = new Map<string, number>()
  for (const { id, after } of inOrder(Object.entries(tasks).map(([id, { after = [] }]) => ({ id, after })))) {
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

function invalid(mistakes: readonly string[]): ToolwrightError {
  return new ToolwrightError(
    "INVALID_PLAN",
    `The plan cannot be started:\n${mistakes.map((each) => `- ${each}`).join("\n")}`,
    { hint: "docs/plans.md tells what a plan is made of; 'toolwright plan new' writes one to begin with." },
  )
}
