import { createScriptedBackend, type InferRequest } from "@toolwright/backends"
import { matchesGbnf } from "@toolwright/logits"
import type { OpenAITool } from "@toolwright/toolformat"
import { expect, test } from "vitest"
import { toolCallingBackend } from "./tool-calling-backend.ts"

const tool: OpenAITool = {
  type: "function",
  function: {
    name: "read_text_file",
    description: "",
    parameters: { type: "object", properties: { path: { type: "string", grounded: "path" } }, required: ["path"] },
  },
}
const messages: InferRequest["messages"] = [
  { role: "system", content: "hidden.txt" },
  { role: "user", content: "look around" },
  { role: "assistant", content: "invented.txt", toolCalls: [{ id: "a", name: "list", arguments: { path: "docs" } }] },
  { role: "tool", content: "found.txt", callId: "a", name: "list", success: true },
]

/** Which of these paths a call may have, by what the grammar of the request says. */
async function allowed(small: boolean, paths: readonly string[], grounding?: "off"): Promise<boolean[]> {
  const scripted = createScriptedBackend(
    { steps: [{ reply: "ok" }] },
    { modelName: "qwen2.5", abilities: { nativeTools: false, grammar: true, small } },
  )
  const backend = toolCallingBackend(scripted, grounding === undefined ? {} : { grounding })
  for await (const _ of backend.infer({ messages, tools: [tool] })) continue
  const { grammar } = scripted.requests[0]!
  return paths.map((path) =>
    matchesGbnf(grammar!, `<tool_call>\n{"name": "read_text_file", "arguments": {"path": "${path}"}}\n</tool_call>`),
  )
}

test("a client's calls are held to what was said, returned and called, with a small model", async () => {
  const paths = ["found.txt", "docs/found.txt", "hidden.txt", "invented.txt"]
  expect(await allowed(true, paths)).toEqual([true, true, false, false])
  expect(await allowed(false, paths)).toEqual([true, true, true, true])
  expect(await allowed(true, paths, "off")).toEqual([true, true, true, true])
})

test.each([true, false])(
  "where a client requires a call, the grammar has no room for words (small: %s)",
  async (small) => {
    const scripted = createScriptedBackend(
      { steps: [{ reply: "ok", repeat: 3 }] },
      { modelName: "qwen2.5", abilities: { nativeTools: false, grammar: true, small } },
    )
    const backend = toolCallingBackend(scripted)
    for (const toolChoice of ["auto", "required"] as const)
      for await (const _ of backend.infer({ messages, tools: [tool], toolChoice })) continue
    const replies = [
      "Hello.",
      '<tool_call>\n{"name": "read_text_file", "arguments": {"path": "found.txt"}}\n</tool_call>',
    ]
    // Words all the same: it is asked once more.
    expect(scripted.requests.map(({ grammar }) => replies.map((reply) => matchesGbnf(grammar!, reply)))).toEqual([
      [true, true],
      [false, true],
      [false, true],
    ])
  },
)

test("a reply that breaks off inside a call was cut off, whatever calls came before it", async () => {
  const call = '<tool_call>\n{"name": "read_text_file", "arguments": {"path": "found.txt"}}\n</tool_call>'
  const ends = async (reply: string) => {
    const scripted = createScriptedBackend(
      { steps: [{ reply: { text: reply, finish: "length" } }] },
      { modelName: "qwen2.5", abilities: { nativeTools: false } },
    )
    const reasons: string[] = []
    for await (const event of toolCallingBackend(scripted).infer({ messages, tools: [tool] }))
      if (event.type === "end") reasons.push(event.finishReason)
    return reasons
  }
  expect(await ends(`${call}\n${call.slice(0, -20)}`)).toEqual(["length"])
  expect(await ends(call.slice(0, -20))).toEqual(["length"])
})
