import {
  failure,
  sizeOf,
  success,
  ToolwrightError,
  type JsonObject,
  type JsonSchema,
  type ToolDefinition,
  type ToolResult,
} from "@toolwright/toolbox"

/** A tool as an MCP server lists it; any field may be missing, since servers are as they are. */
export interface McpTool {
  name?: string
  title?: string
  description?: string
  inputSchema?: JsonSchema
  outputSchema?: JsonSchema
  annotations?: {
    title?: string
    readOnlyHint?: boolean
    destructiveHint?: boolean
    idempotentHint?: boolean
    openWorldHint?: boolean
  }
}

/** The OpenAI form of a tool. */
export interface DialTool {
  type: "function"
  function: { name: string; description: string; parameters: JsonSchema }
}

/** A block of a result's content. */
export interface McpContent {
  type: string
  text?: string
  data?: string
  mimeType?: string
  resource?: { uri?: string; text?: string; blob?: string; mimeType?: string }
  uri?: string
  name?: string
}

/** What `tools/call` answers. */
export interface McpResult {
  content?: McpContent[]
  structuredContent?: unknown
  isError?: boolean
  _meta?: JsonObject
}

/**
 * A tool in the OpenAI form: name and description as given, the JSON Schema unchanged.
 *
 * @throws ToolwrightError `INVALID_MCP_TOOL`, `Missing 'name' in {tool}`
 */
export function mcpToDialFormat(tool: McpTool): DialTool {
  const converted = {
    type: "function" as const,
    function: {
      name: tool.name,
      description: tool.description ?? "",
      parameters: tool.inputSchema ?? { type: "object", properties: {} },
    },
  }
  checkDialTool(converted)
  return converted as DialTool
}

/** @throws ToolwrightError `INVALID_MCP_TOOL` naming the part that is missing */
export function checkDialTool(tool: { type?: unknown; function?: { name?: unknown } }): void {
  const missing =
    tool.type === undefined
      ? "type"
      : tool.function === undefined
        ? "function"
        : (tool.function.name ?? "") === ""
          ? "name"
          : undefined
  if (missing !== undefined)
    throw new ToolwrightError("INVALID_MCP_TOOL", `Missing '${missing}' in ${JSON.stringify(tool)}`)
}

/**
 * Effects as a server's annotations declare them. A tool without annotations declares nothing, and counts as one that
 * changes things.
 */
export function effectsOfAnnotations({ annotations = {} }: McpTool): NonNullable<ToolDefinition["effects"]> {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations
  return {
    ...(readOnlyHint === undefined ? {} : { readOnly: readOnlyHint }),
    ...(destructiveHint === undefined ? {} : { destructive: destructiveHint }),
    ...(idempotentHint === undefined ? {} : { idempotent: idempotentHint }),
    ...(openWorldHint === undefined ? {} : { network: openWorldHint }),
  }
}

/**
 * A result as this project has it: structured content is data, text is the text, and pictures, sound and resources are
 * kept in `metadata.mcpContent`, so that a server that passes the result on loses nothing. JSON in a text becomes data
 * only where the tool declares what its data look like.
 */
export function toToolResult(result: McpResult, declaresOutput: boolean): ToolResult {
  const content = Array.isArray(result.content) ? result.content : []
  if (sizeOf(result, MOST_CHARACTERS) > MOST_CHARACTERS) {
    return failure({
      code: "RESULT_TOO_LARGE",
      message: `The server answered with more than ${MOST_CHARACTERS} characters, or nested too deeply.`,
      hint: "Ask for less at once.",
    })
  }
  const output = content.map(shown).join("\n")
  const data = result.structuredContent ?? (declaresOutput ? parseJson(output) : undefined)
  const rich = content.some(({ type }) => type !== "text")
  const parts = {
    ...(output === "" && data !== undefined ? {} : { output }),
    ...(data === undefined ? {} : { data }),
    metadata: {
      ...(rich ? { mcpContent: content } : {}),
      ...(result._meta === undefined ? {} : { mcpMeta: result._meta }),
    },
  }
  if (result.isError !== true) return success(parts)
  return failure({
    ...parts,
    code: "TOOL_FAILED",
    message: output === "" ? "The tool failed without saying why." : output,
  })
}

/** Characters of a result that is taken. */
const MOST_CHARACTERS = 32 * 1024 * 1024

function shown({ type, text = "", mimeType = "", data = "", resource, uri = "", name = "" }: McpContent): string {
  if (type === "text") return text
  if (type === "resource_link") return `[resource ${name} ${uri}]`
  if (type !== "resource") return `[${type} ${mimeType}, ${Math.round((data.length * 3) / 4)} bytes]`
  return resource?.text ?? `[resource ${resource?.uri ?? ""} ${resource?.mimeType ?? ""}]`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
