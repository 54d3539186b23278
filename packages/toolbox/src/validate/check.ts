import { messageOf, ToolwrightError } from "../model/errors.ts"
import type { Repair } from "../model/events.ts"
import { failure, type ToolFailure } from "../model/result.ts"
import type { JsonObject } from "../model/schema.ts"
import { TEXT_ARGUMENT, textInputOf, type TextInput } from "../model/text-input.ts"
import type { ToolDefinition } from "../model/tool.ts"
import { schemaForCall } from "./branch.ts"
import { fitsAtOnce, inspect } from "./compile.ts"
import { invalidArguments, invalidText } from "./explain.ts"
import { renameArguments, repairValues } from "./repair.ts"
import { excerpt, isShort } from "./shown.ts"

/** Arguments that may run, with what was put right in them; or the result that answers a wrong call. */
export type Checked = { args: JsonObject; repairs: Repair[] } | { refused: ToolFailure }

/** Repairs and validates the arguments of one call, whatever its source. Never throws. */
export async function checkArguments(tool: ToolDefinition, given: unknown): Promise<Checked> {
  const input = textInputOf(tool.parameters)
  const checked = await checkBySchema(tool, input === undefined ? given : asTextArgument(given))
  if (input === undefined || "refused" in checked) return checked
  const fault = faultOf(input, String(checked.args[TEXT_ARGUMENT]))
  return fault === undefined ? checked : { refused: invalidText(tool, input, fault) }
}

/**
 * The same without a wait, of a call that is plainly right: its tool was called before, and nothing in it has to be
 * read or put right by its value. Nothing of any other, which {@link checkArguments} is for.
 */
export function checkAtOnce(tool: ToolDefinition, given: unknown): Checked | undefined {
  if (!isObject(given) || textInputOf(tool.parameters) !== undefined) return undefined
  const { args, repairs } = renameArguments(tool, given)
  try {
    return fitsAtOnce(schemaForCall(tool, args), args) ? { args, repairs: told(repairs) } : undefined
  } catch {
    // Too much, or nested too deeply: who takes the time for it says which.
    return undefined
  }
}

/** A grammar may be too ambiguous to follow a text with. */
function faultOf(input: TextInput, text: string): string | undefined {
  try {
    return input.fault(text)
  } catch (thrown) {
    return `The text cannot be read: ${messageOf(thrown)}`
  }
}

/** A text alone is the argument of a tool that takes one, unless it is the JSON of its arguments. */
function asTextArgument(given: unknown): unknown {
  if (typeof given !== "string") return given
  try {
    const parsed: unknown = JSON.parse(given)
    if (isObject(parsed) && typeof parsed[TEXT_ARGUMENT] === "string" && Object.keys(parsed).length === 1) return parsed
  } catch {
    // a text, as it should be
  }
  return { [TEXT_ARGUMENT]: given }
}

async function checkBySchema(tool: ToolDefinition, given: unknown): Promise<Checked> {
  const first = asObject(given)
  if (first === undefined) {
    return { refused: invalidArguments(tool, {}, NOTHING) }
  }
  try {
    const renamed = renameArguments(tool, first.args)
    const repairs = [...first.repairs, ...renamed.repairs]
    const foreign = (tool.provenance?.kind ?? "local") !== "local"
    const found = await inspect(schemaForCall(tool, renamed.args), renamed.args, { foreign })
    if (found.errors.length === 0) return { args: renamed.args, repairs: told(repairs) }
    const repaired = repairValues(renamed.args, found.errors)
    if (repaired !== undefined) {
      const again = await inspect(schemaForCall(tool, repaired.args), repaired.args, { foreign })
      if (again.errors.length === 0) return { args: repaired.args, repairs: told([...repairs, ...repaired.repairs]) }
    }
    return { refused: invalidArguments(tool, renamed.args, found) }
  } catch (thrown) {
    if (ToolwrightError.isInstance(thrown))
      return { refused: failure({ code: thrown.code, message: `Tool '${tool.name}': ${thrown.message}` }) }
    // The schema compiled; the arguments could not be walked: nested too deeply, or no plain JSON.
    return {
      refused: failure({
        code: "INVALID_ARGUMENTS",
        message: `The arguments of '${tool.name}' cannot be checked: ${messageOf(thrown)}.`,
      }),
    }
  }
}

const NOTHING = { errors: [], complete: true }

/** Repairs that are told, and characters of a value that is told with one. */
const MOST_REPAIRS = 50
const LONGEST_VALUE = 500

/** Repairs as they are reported: what was sent is not sent back at length, nor is each of thousands named. */
function told(repairs: Repair[]): Repair[] {
  if (repairs.length === 0) return repairs
  const short = (value: unknown): unknown => (isShort(value, LONGEST_VALUE) ? value : excerpt(value, LONGEST_VALUE))
  const most = repairs.slice(0, MOST_REPAIRS)
  return most.map((repair) => ({ ...repair, from: short(repair.from), to: short(repair.to) }))
}

/** Arguments as an object: a JSON text of one is parsed, nothing at all is an empty one. */
function asObject(given: unknown): { args: JsonObject; repairs: Repair[] } | undefined {
  if (given === undefined || given === null) return { args: {}, repairs: [] }
  if (typeof given === "string") {
    try {
      const parsed: unknown = given.trim() === "" ? {} : JSON.parse(given)
      if (isObject(parsed))
        return { args: parsed, repairs: [{ path: "", kind: "parsed-json", from: given, to: parsed }] }
    } catch {
      return undefined
    }
  }
  return isObject(given) ? { args: given, repairs: [] } : undefined
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
