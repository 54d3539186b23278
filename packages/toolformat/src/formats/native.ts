import type { Format } from "../engine/syntax.ts"
import { generic } from "./generic.ts"
import { noPrompt } from "./prompts.ts"
import { resultText } from "./results.ts"

/** Servers that take tools and answer calls in the OpenAI form (vLLM, llama.cpp server, and many more). */
export const openai: Format = {
  ...generic,
  id: "openai",
  aliases: ["openai-compatible", "native"],
  title: "The OpenAI chat API: tools and calls in the request and response",
  prompt: noPrompt,
  result: (call, result) => JSON.stringify({ role: "tool", tool_call_id: call.id, content: resultText(result) }),
  apiOnly: "openai",
}

/** The Anthropic Messages API, where calls are content blocks. */
export const claude: Format = {
  ...generic,
  id: "claude",
  aliases: ["anthropic"],
  title: "The Anthropic Messages API: tool_use and tool_result blocks",
  prompt: noPrompt,
  result: (call, result) =>
    JSON.stringify({
      type: "tool_result",
      tool_use_id: call.id,
      content: resultText(result),
      ...(result.success ? {} : { is_error: true }),
    }),
  apiOnly: "claude",
}
