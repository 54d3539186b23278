import type { InferRequest } from "@toolwright/backends"
import type { JsonObject, ToolDefinition } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"

/** At the end of the last message of the user, so that what stands before it stays as a server has it in its cache. */
export function withRequest(messages: readonly ChatMessage[], text: string): ChatMessage[] {
  if (text === "") return [...messages]
  const at = messages.findLastIndex(({ role }) => role === "user")
  const user = messages[at]
  if (user?.role !== "user" || at < messages.length - 1) return [...messages, { role: "user", content: text }]
  return messages.with(at, { ...user, content: user.content === "" ? text : `${user.content}\n\n${text}` })
}

/** At the end of the system message. */
export function withInstruction(messages: readonly ChatMessage[], text: string): ChatMessage[] {
  if (text === "") return [...messages]
  const [first, ...rest] = messages
  if (first?.role !== "system") return [{ role: "system", content: text }, ...messages]
  return [{ ...first, content: `${first.content}\n\n${text}` }, ...rest]
}

/** What a model that is held by nothing is told of a choice of tools. */
export function choiceText(
  { toolChoice, parallelToolCalls }: Pick<InferRequest, "toolChoice" | "parallelToolCalls">,
  tools: readonly ToolDefinition[],
): string {
  const one = parallelToolCalls === false ? "Make at most one tool call." : ""
  if (toolChoice !== "required") return one
  const [only, ...others] = tools
  return only !== undefined && others.length === 0
    ? `Answer with a call of the tool '${only.name}'.`
    : `Answer with a tool call. ${one}`.trim()
}

/** What a model is told of the JSON that it shall answer with, where its server cannot hold it to that. */
export function schemaText(schema: JsonObject, besideTools: boolean): string {
  const when = besideTools ? "Unless you call a tool, answer" : "Answer"
  return `${when} with one JSON value and nothing else. It must fit this JSON Schema:\n${JSON.stringify(schema)}`
}

/** The request once more, with what was wrong with the answer. */
export function askedAgain(request: InferRequest, said: string, faults: readonly string[]): InferRequest {
  const why = `${faults.join("\n\n")}\n\nAnswer again, and put this right.`
  const reply: ChatMessage[] = said === "" ? [] : [{ role: "assistant", content: said }]
  return { ...request, messages: [...request.messages, ...reply, { role: "user", content: why }] }
}
