import { ToolwrightError, type ToolCall, type ToolDefinition } from "@toolwright/toolbox"
import { decodeOpenAIResponse, toOpenAITools } from "./api/index.ts"
import { collectReply, createParser } from "./engine/parser.ts"
import { exampleCall, printCalls } from "./engine/print.ts"
import type { Format } from "./engine/syntax.ts"
import { ACCEPTED_EVERYWHERE, CALL_MARKS } from "./formats/index.ts"
import type { ToolFormatter } from "./model/formatter.ts"

/** A formatter of a family that an API serves with tools of its own. */
export interface ApiFormatter extends ToolFormatter {
  /** The calls in a response body of the API. What is no call is passed over. */
  parseAPIResponse(body: unknown): ToolCall[]
}

/** A format as a {@link ToolFormatter}: every method interprets the one declaration. */
export function formatterOf(format: Format): ToolFormatter {
  const formatter: ToolFormatter = {
    id: format.id,
    aliases: format.aliases,
    declaration: format,
    stop: format.stop,
    formatToolsForPrompt: (tools) => (tools.length === 0 ? "" : format.prompt(tools, exampleCall(format))),
    formatToolsForAPI: (tools) => (format.apiOnly === "claude" ? tools.map(toClaudeTool) : toOpenAITools(tools)),
    parseToolCalls: (response, options) => formatter.parse(response, options).calls,
    parse(response, options) {
      const parser = formatter.createParser(options)
      return collectReply([...parser.push(response), ...parser.end()])
    },
    createParser: (options) =>
      createParser(format, format.generic === true ? [] : ACCEPTED_EVERYWHERE, options, CALL_MARKS),
    printCalls: (calls, tools) => printCalls(format, calls, tools),
    formatToolResult: (call, result) => format.result(call, result),
    supportsNativeToolUse: () => format.apiOnly !== undefined,
  }
  if (format.apiOnly === undefined) return formatter
  const refuse = (): never => {
    throw new ToolwrightError("USE_PARSE_API_RESPONSE", "use ParseAPIResponse for Claude API responses", {
      hint: "Claude's calls are content blocks, not text: pass the response body to parseAPIResponse.",
    })
  }
  const native: ApiFormatter =
    format.apiOnly === "claude"
      ? { ...formatter, parseToolCalls: refuse, parse: refuse, createParser: refuse, parseAPIResponse: claudeCalls }
      : { ...formatter, parseAPIResponse: openAICalls }
  return native
}

function toClaudeTool({ name, description, parameters: schema }: ToolDefinition): Record<string, unknown> {
  return { name, description, input_schema: schema }
}

/**
 * The `tool_calls` of a chat completion, or of a message out of one; whole as it is, it needs no reason for its end.
 */
function openAICalls(body: unknown): ToolCall[] {
  const choices = isRecord(body) && Array.isArray(body.choices) ? body.choices : [{ message: body }]
  return decodeOpenAIResponse({
    choices: choices
      .slice(0, 1)
      .map((choice: unknown) => ({ finish_reason: "tool_calls", ...(isRecord(choice) ? choice : {}) })),
  }).calls
}

/** The `tool_use` blocks of a Messages API response. */
function claudeCalls(body: unknown): ToolCall[] {
  const content = isRecord(body) && Array.isArray(body.content) ? body.content : []
  return content.flatMap((block: unknown) =>
    isRecord(block) && block.type === "tool_use" && typeof block.name === "string"
      ? [
          {
            id: typeof block.id === "string" ? block.id : "",
            name: block.name,
            arguments: isRecord(block.input) ? block.input : {},
          },
        ]
      : [],
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
