import { customParameters } from "./api/custom-tools.ts"
import { describeFault, schemaFault, ToolwrightError, type JsonSchema, type ToolDefinition } from "@toolwright/toolbox"

/**
 * Tools from JSON in whatever form they come: OpenAI's (`{type: "function", function: {…}}`), MCP's (`inputSchema`),
 * Anthropic's (`input_schema`), OpenAI's custom tools (`{type: "custom", format: …}`), ours (`schema`), or with plain
 * `parameters`; a list, or an object that holds one as `tools`. They can be shown and parsed for, not called.
 *
 * @throws ToolwrightError `INVALID_TOOLS` that names the entry and says what is wrong with it
 */
export function toolsFromJson(value: unknown): ToolDefinition[] {
  const list = isRecord(value) && Array.isArray(value.tools) ? value.tools : value
  if (!Array.isArray(list)) throw invalid("Tools must be a JSON array, or an object with one as 'tools'.")
  return list.map((entry: unknown, index) => {
    const inner = isRecord(entry) ? (entry.function ?? entry.custom) : undefined
    const body = isRecord(inner) ? inner : entry
    if (!isRecord(body) || typeof body.name !== "string" || body.name === "")
      throw invalid(`Tool ${index} has no name.`)
    const isCustom = isRecord(entry) && entry.type === "custom"
    const schema = (isCustom ? customParameters(body.name, body.format) : body.parameters) ??
      body.inputSchema ??
      body.input_schema ??
      body.schema ?? { type: "object", properties: {} }
    const fault = schemaFault(schema)
    if (fault !== undefined)
      throw invalid(`The parameters of tool '${body.name}' are no JSON Schema: ${describeFault(fault)}.`)
    return {
      name: body.name,
      description: typeof body.description === "string" ? body.description : "",
      category: "utility",
      optionality: "optional",
      parameters: schema as JsonSchema,
      handler: refuse,
    }
  })
}

function refuse(): never {
  throw new ToolwrightError("NO_HANDLER", "This tool was read from JSON, so it can be shown to a model but not called.")
}

function invalid(message: string): ToolwrightError {
  return new ToolwrightError("INVALID_TOOLS", message, {
    hint: 'A tool looks like {"name": "…", "description": "…", "parameters": {"type": "object", "properties": {…}}}.',
  })
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
