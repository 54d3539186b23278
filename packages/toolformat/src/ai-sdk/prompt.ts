import type { JsonObject, ToolCall, ToolDefinition } from "@toolwright/toolbox"
import { failure, success } from "@toolwright/toolbox"
import type { ToolFormatter } from "../model/formatter.ts"
import { toDefinitions } from "../templates/messages.ts"
import type { CallParams, PromptMessage, PromptPart } from "./types.ts"

/** The function tools of a call, as definitions. */
export function definitionsOf(params: CallParams): ToolDefinition[] {
  return toDefinitions(
    (params.tools ?? []).flatMap(({ type, name, description, inputSchema }) =>
      type === "function" && name !== undefined
        ? [
            {
              type: "function" as const,
              function: {
                name,
                description: description ?? "",
                parameters: (inputSchema ?? { type: "object" }) as JsonObject,
              },
            },
          ]
        : [],
    ),
  )
}

/** The ids of all calls in a prompt. */
export function callIdsIn(prompt: readonly PromptMessage[]): Set<string> {
  const parts = prompt.flatMap((message) => (typeof message.content === "string" ? [] : message.content))
  return new Set(parts.flatMap((part) => (part.toolCallId === undefined ? [] : [part.toolCallId])))
}

/** The parameters without function tools: those stand in the prompt as text. */
export function writeParams(
  formatter: ToolFormatter,
  params: CallParams,
  offered: readonly ToolDefinition[],
  stop: readonly string[],
): CallParams {
  const { tools = [], toolChoice: _toolChoice, stopSequences: given = [], ...rest } = params
  const others = tools.filter((tool) => tool.type !== "function")
  const stopSequences = [...new Set([...given, ...stop])]
  return {
    ...rest,
    ...(others.length === 0 ? {} : { tools: others }),
    ...(stopSequences.length === 0 ? {} : { stopSequences }),
    prompt: writePrompt(formatter, offered.length === 0 ? rest : params, offered),
  }
}

/** The prompt with tools, calls and results written as text; everything else stays as it is. */
function writePrompt(formatter: ToolFormatter, params: CallParams, tools: readonly ToolDefinition[]): PromptMessage[] {
  const written: PromptMessage[] = []
  for (const message of params.prompt) {
    if (typeof message.content === "string") written.push(message)
    else if (message.role === "assistant")
      written.push({ ...message, content: writeCalls(formatter, message.content, tools) })
    else if (message.role === "tool")
      addUser(
        written,
        message.content.flatMap((part) => writeResult(formatter, part)),
      )
    else if (message.role === "user") addUser(written, message.content, message)
    else written.push(message)
  }
  const text = [formatter.formatToolsForPrompt(tools), choiceText(params)].filter((part) => part !== "").join("\n\n")
  return text === "" ? written : addSystem(written, text)
}

function writeCalls(
  formatter: ToolFormatter,
  content: readonly PromptPart[],
  tools: readonly ToolDefinition[],
): PromptPart[] {
  const calls: ToolCall[] = []
  const kept: PromptPart[] = []
  for (const part of content) {
    if (part.type === "tool-call" && part.toolCallId !== undefined && part.toolName !== undefined) {
      calls.push({ id: part.toolCallId, name: part.toolName, arguments: argumentsOf(part.input) })
    } else kept.push(part)
  }
  if (calls.length === 0) return kept
  const needsBreak = kept.some((part) => part.type === "text" && part.text !== "")
  return [...kept, { type: "text", text: (needsBreak ? "\n" : "") + formatter.printCalls(calls, tools) }]
}

function argumentsOf(input: unknown): JsonObject {
  return typeof input === "object" && input !== null && !Array.isArray(input) ? (input as JsonObject) : {}
}

function writeResult(formatter: ToolFormatter, part: PromptPart): PromptPart[] {
  if (part.type !== "tool-result") return []
  const { type, value, reason } = part.output ?? { type: "text", value: "" }
  const call = { id: part.toolCallId ?? "", name: part.toolName ?? "", arguments: {} }
  const text = resultText(type, value, reason)
  const failed = type.startsWith("error") || type === "execution-denied"
  const result = failed ? failure({ code: "TOOL_FAILED", message: text, output: text }) : success({ output: text })
  return [{ type: "text", text: formatter.formatToolResult(call, result) }]
}

function resultText(type: string, value: unknown, reason: string | undefined): string {
  if (type === "execution-denied") return reason ?? "The call was not allowed."
  if (type === "content" && Array.isArray(value)) {
    return (value as PromptPart[])
      .map((part) => (part.type === "text" ? (part.text ?? "") : `[${part.type}]`))
      .join("\n")
  }
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "")
}

/** Results and what the user says next share one turn: many models know alternating roles only. */
function addUser(messages: PromptMessage[], parts: readonly PromptPart[], message: Partial<PromptMessage> = {}): void {
  const last = messages.at(-1)
  if (last?.role !== "user" || typeof last.content === "string")
    messages.push({ ...message, role: "user", content: parts })
  else messages[messages.length - 1] = { ...last, ...message, role: "user", content: [...last.content, ...parts] }
}

function addSystem(messages: readonly PromptMessage[], text: string): PromptMessage[] {
  const [first, ...rest] = messages
  if (first?.role !== "system" || typeof first.content !== "string")
    return [{ role: "system", content: text }, ...messages]
  return [{ ...first, content: first.content === "" ? text : `${first.content}\n\n${text}` }, ...rest]
}

function choiceText({ toolChoice }: CallParams): string {
  if (toolChoice?.type === "required") return "Answer with a tool call."
  return toolChoice?.type === "tool" ? `Answer with a call of the tool "${toolChoice.toolName}".` : ""
}
