import type { ErrorObject } from "ajv"
import { failure, type ToolResult } from "../model/result.ts"
import type { JsonObject } from "../model/schema.ts"
import type { ToolDefinition } from "../model/tool.ts"
import { nearest } from "../nearest.ts"
import { actionBranches } from "./branch.ts"
import { sampleCallText } from "./sample.ts"

/**
 * One thing that is wrong with a call's arguments. `path` is dotted (`edits[0].oldText`), empty for the arguments as a
 * whole.
 */
export interface ArgumentIssue {
  path: string
  message: string
}

/**
 * The answer to a call with wrong arguments: every issue with its path, what was expected and what came, and a correct
 * call.
 * A model must be able to make the right call from this text alone.
 */
export function invalidArguments(tool: ToolDefinition, args: JsonObject, errors: readonly ErrorObject[]): ToolResult {
  const issues = errors.length === 0 ? [NO_OBJECT] : (actionIssue(tool, args) ?? explain(errors))
  const wrong = new Set(issues.map(({ path }) => /^[^.[]*/.exec(path)?.[0] ?? ""))
  const list = issues.map(({ path, message }) => `- ${path === "" ? "" : `${path}: `}${message}`)
  return failure({
    code: "INVALID_ARGUMENTS",
    message: `The call of '${tool.name}' has wrong arguments:\n${list.join("\n")}`,
    hint: `A correct call: ${sampleCallText(tool, args, (name) => !wrong.has(name))}`,
    details: { issues },
  })
}

/** Arguments that are no object at all fail before any schema is asked. */
const NO_OBJECT: ArgumentIssue = { path: "", message: "the arguments must be one JSON object." }

/** A missing or unknown action, said as such: the branches' own errors would only confuse. */
function actionIssue(tool: ToolDefinition, args: JsonObject): ArgumentIssue[] | undefined {
  const argument = tool.actions?.argument
  if (argument === undefined) return undefined
  const actions = [...actionBranches(tool).keys()]
  const given = args[argument]
  if (actions.length === 0 || actions.includes(String(given))) return undefined
  const choice = actions.map((action) => JSON.stringify(action)).join(", ")
  if (given !== undefined) {
    const close = nearest(String(given), actions)[0]
    const suggestion = close === undefined ? "" : ` Did you mean ${JSON.stringify(close)}?`
    return [
      { path: argument, message: `${show(given)} is no action of '${tool.name}'; use one of ${choice}.${suggestion}` },
    ]
  }
  const misplaced = Object.entries(args).find(([, value]) => actions.includes(String(value)))
  const note = misplaced === undefined ? "" : ` You gave it as '${misplaced[0]}'; call it '${argument}'.`
  return [{ path: argument, message: `is missing; it says what to do, one of ${choice}.${note}` }]
}

/** Ajv's errors in a model's terms, one per place, without the echoes that combining keywords make. */
export function explain(errors: readonly ErrorObject[]): ArgumentIssue[] {
  const issues: ArgumentIssue[] = []
  for (const error of errors) {
    if (error.keyword === "if" || (combining.has(error.keyword) && hasDetail(error, errors))) continue
    const issue = { path: pathOf(error), message: messageOf(error) }
    if (!issues.some(({ path, message }) => path === issue.path && message === issue.message)) issues.push(issue)
  }
  return issues
}

const combining = new Set(["oneOf", "anyOf", "allOf", "not"])

function hasDetail(error: ErrorObject, errors: readonly ErrorObject[]): boolean {
  return (
    error.keyword !== "not" &&
    errors.some((other) => other !== error && other.instancePath.startsWith(error.instancePath))
  )
}

function pathOf(error: ErrorObject): string {
  const parameters = error.params as Record<string, unknown>
  const pointer = error.instancePath.split("/").slice(1).map(unescape)
  const own = parameters.missingProperty ?? parameters.additionalProperty ?? parameters.unevaluatedProperty
  if (own !== undefined) pointer.push(String(own))
  return pointer.reduce(
    (path, key) => (/^\d+$/.test(key) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`),
    "",
  )
}

function unescape(segment: string): string {
  return segment.replaceAll("~1", "/").replaceAll("~0", "~")
}

function messageOf(error: ErrorObject): string {
  const parameters = error.params as Record<string, unknown>
  switch (error.keyword) {
    case "required":
      return "is required and missing."
    case "additionalProperties":
    case "unevaluatedProperties":
      return unknownArgument(error)
    case "type":
      return `must be ${article(parameters.type)}, but ${show(error.data)} came.`
    case "enum":
      return `must be one of ${(parameters.allowedValues as unknown[]).map((value) => JSON.stringify(value)).join(", ")}, but ${show(error.data)} came.`
    case "const":
      return `must be ${JSON.stringify(parameters.allowedValue)}, but ${show(error.data)} came.`
    default:
      return `${error.message ?? `breaks the rule '${error.keyword}'`}, but ${show(error.data)} came.`
  }
}

function unknownArgument(error: ErrorObject): string {
  const known = Object.keys((error.parentSchema as { properties?: object } | undefined)?.properties ?? {})
  const name = String((error.params as { additionalProperty?: string }).additionalProperty ?? "")
  const close = nearest(name, known)[0]
  const list = known.length === 0 ? "" : ` Known: ${known.join(", ")}.`
  return `is not known here.${close === undefined ? "" : ` Did you mean '${close}'?`}${list}`
}

function article(type: unknown): string {
  const names = (Array.isArray(type) ? type : [type]).map((name) =>
    /^[aeio]/.test(String(name)) ? `an ${name}` : `a ${name}`,
  )
  return names.join(" or ")
}

/** A value, short, with its type where that is the point. */
function show(value: unknown): string {
  if (value === undefined) return "nothing"
  if (value === null) return "null"
  const text = JSON.stringify(value) ?? String(value)
  const short = text.length > 80 ? `${text.slice(0, 77)}…` : text
  return Array.isArray(value) ? `the array ${short}` : `the ${typeof value} ${short}`
}
