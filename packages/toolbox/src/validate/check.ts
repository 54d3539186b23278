import { messageOf, ToolwrightError } from "../model/errors.ts"
import type { Repair } from "../model/events.ts"
import { failure, type ToolResult } from "../model/result.ts"
import type { JsonObject } from "../model/schema.ts"
import type { ToolDefinition } from "../model/tool.ts"
import { schemaForCall } from "./branch.ts"
import { validate } from "./compile.ts"
import { invalidArguments } from "./explain.ts"
import { renameArguments, repairValues } from "./repair.ts"

/** Arguments that may run, with what was put right in them; or the result that answers a wrong call. */
export type Checked = { args: JsonObject; repairs: Repair[] } | { refused: ToolResult }

/** Repairs and validates the arguments of one call, whatever its source. Never throws. */
export async function checkArguments(tool: ToolDefinition, given: unknown): Promise<Checked> {
  const first = asObject(given)
  if (first === undefined) {
    return { refused: invalidArguments(tool, {}, []) }
  }
  try {
    const renamed = renameArguments(tool, first.args)
    const repairs = [...first.repairs, ...renamed.repairs]
    const errors = await validate(schemaForCall(tool, renamed.args), renamed.args)
    if (errors.length === 0) return { args: renamed.args, repairs }
    const repaired = repairValues(renamed.args, errors)
    if (repaired !== undefined && (await validate(schemaForCall(tool, repaired.args), repaired.args)).length === 0) {
      return { args: repaired.args, repairs: [...repairs, ...repaired.repairs] }
    }
    return { refused: invalidArguments(tool, renamed.args, errors) }
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
