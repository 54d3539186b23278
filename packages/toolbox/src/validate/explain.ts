import type { ErrorObject } from "ajv"
import { failure, type ToolFailure } from "../model/result.ts"
import type { JsonObject } from "../model/schema.ts"
import { TEXT_ARGUMENT, type TextInput } from "../model/text-input.ts"
import type { ToolDefinition } from "../model/tool.ts"
import { nearest } from "../nearest.ts"
import { actionBranches } from "./branch.ts"
import type { Findings } from "./compile.ts"
import { sampleCallText } from "./sample.ts"
import { choice, excerpt, shortName, show } from "./shown.ts"

/**
 * One thing that is wrong with a call's arguments. `path` is dotted (`edits[0].oldText`), empty for the arguments as a
 * whole.
 */
export interface ArgumentIssue {
  path: string
  message: string
}

/** Issues that one answer lists, and errors that are looked at to find them. */
const MOST_ISSUES = 20
const MOST_ERRORS = 200
/** Characters after which no further issue is listed. */
const MOST_CHARACTERS = 4000
/** Candidates that a misspelt name is compared with. */
const MOST_CANDIDATES = 500

/**
 * The answer to a call with wrong arguments: the first issues with their paths, what was expected and what came, how
 * many more there are, and a correct call. A model must be able to make the right call from this text alone; however
 * large the arguments, the text is a page.
 */
export function invalidArguments(tool: ToolDefinition, args: JsonObject, found: Findings): ToolFailure {
  const { issues, more } = found.errors.length === 0 ? NO_OBJECT : (actionIssue(tool, args) ?? explain(found))
  const wrong = new Set(issues.map(({ path }) => /^[^.[]*/.exec(path)?.[0] ?? ""))
  const list = issues.map(({ path, message }) => `- ${path === "" ? "" : `${path}: `}${message}`)
  return failure({
    code: "INVALID_ARGUMENTS",
    message: `The call of '${tool.name}' has wrong arguments:\n${[...list, ...rest(more)].join("\n")}`,
    hint: `A correct call: ${sampleCallText(tool, args, (name) => !wrong.has(name))}`,
    details: { issues, ...(more === 0 ? {} : { more: Number.isFinite(more) ? more : true }) },
  })
}

/** Of a grammar so much is repeated in an answer. */
const LONGEST_GRAMMAR = 1500

/** The answer to a call whose text is not in the tool's grammar. */
export function invalidText({ name }: ToolDefinition, { definition }: TextInput, fault: string): ToolFailure {
  const rules = definition.length > LONGEST_GRAMMAR ? "" : ` The grammar:\n${definition}`
  return failure({
    code: "INVALID_ARGUMENTS",
    message: `The text for '${name}' is not in its grammar: ${fault}`,
    hint: `Call it again with the whole text, put right there.${rules}`,
    details: { issues: [{ path: TEXT_ARGUMENT, message: fault }] },
  })
}

/** What an answer says of the issues that it does not list. */
function rest(more: number): string[] {
  if (more === 0) return []
  return [Number.isFinite(more) ? `- and ${more} more.` : "- and perhaps more: the arguments are large."]
}

/** Arguments that are no object at all fail before any schema is asked. */
const NO_OBJECT: Explained = { issues: [{ path: "", message: "the arguments must be one JSON object." }], more: 0 }

/** A missing or unknown action, said as such: the branches' own errors would only confuse. */
function actionIssue(tool: ToolDefinition, args: JsonObject): Explained | undefined {
  const argument = tool.actions?.argument
  if (argument === undefined) return undefined
  const actions = [...actionBranches(tool).keys()]
  const given = args[argument]
  if (actions.length === 0 || (typeof given === "string" && actions.includes(given))) return undefined
  if (given !== undefined) {
    const close = typeof given === "string" ? nearest(given, actions)[0] : undefined
    const suggestion = close === undefined ? "" : ` Did you mean ${JSON.stringify(close)}?`
    const message = `${show(given)} is no action of '${tool.name}'; use one of ${choice(actions)}.${suggestion}`
    return { issues: [{ path: argument, message }], more: 0 }
  }
  const misplaced = Object.keys(args).find((key) => typeof args[key] === "string" && actions.includes(args[key]))
  const note = misplaced === undefined ? "" : ` You gave it as '${shortName(misplaced)}'; call it '${argument}'.`
  return {
    issues: [{ path: argument, message: `is missing; it says what to do, one of ${choice(actions)}.${note}` }],
    more: 0,
  }
}

/** Issues, and how many more there are: infinitely many where nobody knows. */
export interface Explained {
  issues: ArgumentIssue[]
  more: number
}

/** Ajv's errors in a model's terms, one per place, without the echoes that combining keywords make. */
export function explain({ errors, complete }: Findings): Explained {
  const looked = errors.slice(0, MOST_ERRORS)
  const issues = new Map<string, ArgumentIssue>()
  let left = 0
  let characters = 0
  for (const error of looked) {
    if (error.keyword === "if" || (combining.has(error.keyword) && hasDetail(error, looked))) continue
    if (issues.size === MOST_ISSUES || characters > MOST_CHARACTERS) {
      left++
      continue
    }
    const issue = { path: pathOf(error), message: messageOf(error) }
    characters += issue.path.length + issue.message.length
    issues.set(`${issue.path}\u0000${issue.message}`, issue)
  }
  const more = complete ? left + errors.length - looked.length : Number.POSITIVE_INFINITY
  return { issues: [...issues.values()], more }
}

const combining = new Set(["oneOf", "anyOf", "allOf", "not"])

function hasDetail(error: ErrorObject, errors: readonly ErrorObject[]): boolean {
  return (
    error.keyword !== "not" &&
    errors.some((other) => other !== error && other.instancePath.startsWith(error.instancePath))
  )
}

/** Steps of a path that are shown. */
const MOST_STEPS = 12

function pathOf(error: ErrorObject): string {
  const parameters = error.params as Record<string, unknown>
  // A path may be as long as the arguments: of it, too, only as much is read as is shown.
  const pointer = error.instancePath
    .slice(0, 2000)
    .split("/", MOST_STEPS + 1)
    .slice(1)
    .map(unescape)
  const own = parameters.missingProperty ?? parameters.additionalProperty ?? parameters.unevaluatedProperty
  if (own !== undefined) pointer.push(String(own))
  return pointer.reduce(
    (path, key) => (/^\d+$/.test(key) ? `${path}[${key}]` : path === "" ? shortName(key) : `${path}.${shortName(key)}`),
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
      return `must be one of ${choice(parameters.allowedValues as unknown[])}, but ${show(error.data)} came.`
    case "const":
      return `must be ${excerpt(parameters.allowedValue, 200)}, but ${show(error.data)} came.`
    default:
      return `${shortText(error.message ?? `breaks the rule '${error.keyword}'`)}, but ${show(error.data)} came.`
  }
}

function unknownArgument(error: ErrorObject): string {
  const known = Object.keys((error.parentSchema as { properties?: object } | undefined)?.properties ?? {})
  const candidates = known.slice(0, MOST_CANDIDATES)
  const name = String((error.params as { additionalProperty?: string }).additionalProperty ?? "")
  const close = nearest(name, candidates)[0]
  const more = known.length - MOST_NAMES
  const names = known.slice(0, MOST_NAMES).map(shortName).join(", ")
  const list = known.length === 0 ? "" : ` Known: ${names}${more > 0 ? ` and ${more} more` : ""}.`
  return `is not known here.${close === undefined ? "" : ` Did you mean '${close}'?`}${list}`
}

/** Names of arguments that are listed. */
const MOST_NAMES = 50

/** A rule's own text may hold a pattern or a name of any length. */
function shortText(text: string): string {
  return text.length <= 300 ? text : `${text.slice(0, 299)}…`
}

function article(type: unknown): string {
  const names = (Array.isArray(type) ? type : [type]).map((name) =>
    /^[aeio]/.test(String(name)) ? `an ${name}` : `a ${name}`,
  )
  return names.join(" or ")
}
