import { resolve, sep } from "node:path"
import { realPlace } from "@toolwright/host/paths"
import { taskInput, type Budget, type NewTask } from "@toolwright/store"
import { ToolwrightError } from "@toolwright/toolbox"
import type { TaskSource } from "../http/sources.ts"

const KNOWN = new Set([
  "agent",
  "input",
  "parent",
  "after",
  "plan",
  "priority",
  "maxAttempts",
  "notBefore",
  "idempotencyKey",
  "workspace",
  "budget",
])
/** As many others as one task may wait for. */
const MOST_AFTER = 1_000

/**
 * Reads what a task is to be.
 *
 * @throws ToolwrightError `INVALID_TASK`, which names the field, and what the source says of agent and input
 */
export async function newTaskIn(
  body: unknown,
  source: Pick<TaskSource, "check" | "root" | "workspace">,
): Promise<NewTask> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw wrong("The body", "an object")
  const given = body as Record<string, unknown>
  for (const name of Object.keys(given))
    if (!KNOWN.has(name)) throw wrong(`'${name.slice(0, 100)}'`, "no field of a task")
  const agent = text(given, "agent") ?? "assistant"
  const input = taskInput(given.input)
  await source.check(agent, input)
  const folder = text(given, "workspace")
  const workspace = folder === undefined ? source.workspace : within(source.root, folder)
  return {
    agent,
    input,
    ...defined({
      parent: text(given, "parent"),
      after: list(given, "after"),
      plan: text(given, "plan"),
      priority: whole(given, "priority", Number.MIN_SAFE_INTEGER),
      maxAttempts: whole(given, "maxAttempts", 1),
      notBefore: time(given, "notBefore"),
      idempotencyKey: text(given, "idempotencyKey"),
      budget: budget(given.budget),
      workspace,
    }),
  }
}

/** A folder of what the server serves: whoever asks over HTTP sends no agent anywhere else. */
function within(root: string, folder: string): string {
  const place = resolve(root, folder)
  const [top, real] = [realPlace(root), realPlace(place)]
  if (real === top || real.startsWith(top.endsWith(sep) ? top : `${top}${sep}`)) return place
  throw new ToolwrightError("INVALID_TASK", "'workspace' must be the folder that is served, or one below it.", {
    hint: "Leave it out for the folder that is served; 'toolwright tasks add --workspace' queues for another one.",
  })
}

function budget(value: unknown): Budget | undefined {
  if (value === undefined) return undefined
  if (typeof value !== "object" || value === null) throw wrong("'budget'", "an object")
  const given = value as Record<string, unknown>
  for (const name of Object.keys(given)) {
    if (!["rounds", "tokens", "milliseconds", "money"].includes(name))
      throw wrong(`'budget.${name.slice(0, 100)}'`, "no limit")
  }
  const { money } = given
  if (money !== undefined && !(typeof money === "number" && money > 0 && Number.isFinite(money)))
    throw wrong("'budget.money'", "a number above 0")
  return defined({
    money,
    rounds: whole(given, "rounds", 1),
    tokens: whole(given, "tokens", 1),
    milliseconds: whole(given, "milliseconds", 1),
  })
}

function text(given: Record<string, unknown>, name: string): string | undefined {
  const value = given[name]
  if (value === undefined || (typeof value === "string" && value !== "" && value.length <= 4_096)) return value
  throw wrong(`'${name}'`, "a text that is not empty")
}

function whole(given: Record<string, unknown>, name: string, least: number): number | undefined {
  const value = given[name]
  if (value === undefined || (Number.isSafeInteger(value) && (value as number) >= least))
    return value as number | undefined
  throw wrong(`'${name}'`, `a whole number${least < 0 ? "" : ` from ${least}`}`)
}

function list(given: Record<string, unknown>, name: string): string[] | undefined {
  const value = given[name]
  if (value === undefined) return undefined
  const fits = Array.isArray(value) && value.length <= MOST_AFTER && value.every((each) => typeof each === "string")
  if (!fits) throw wrong(`'${name}'`, "a list of ids")
  return value as string[]
}

function time(given: Record<string, unknown>, name: string): number | undefined {
  const value = text(given, name)
  const moment = value === undefined ? undefined : Date.parse(value)
  if (moment === undefined || !Number.isNaN(moment)) return moment
  throw wrong(`'${name}'`, "a time as ISO 8601 has it")
}

function defined<Given extends object>(given: Given): { [Key in keyof Given]?: Exclude<Given[Key], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never
}

function wrong(what: string, is: string): ToolwrightError {
  const said = is.startsWith("no ") ? `${what} is ${is}.` : `${what} must be ${is}.`
  return new ToolwrightError("INVALID_TASK", said, {
    hint: 'As in { "agent": "builder", "input": "make the test pass", "priority": 1, "budget": { "rounds": 20 } }.',
  })
}
