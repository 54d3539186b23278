import { defineTool } from "@toolwright/toolbox"
import { createScriptedBackend } from "@toolwright/backends"
import { expect, test } from "vitest"
import { planDelivery } from "./delivery.ts"
import { systemPrompt } from "./prompt.ts"

const tool = (name: string, more: object = {}) =>
  defineTool({ name, description: `The tool ${name}`, parameters: { type: "object" }, execute: () => "", ...more })

/**
 * The prompt as a model reads it that is told of tools in a native request, and as one that is told of them in text.
 */
function prompts(tools: readonly ReturnType<typeof tool>[]): string[] {
  return [true, false].map((nativeTools) => {
    const backend = createScriptedBackend(
      { steps: [] },
      { modelName: "qwen2.5", abilities: { nativeTools, grammar: false, jsonSchema: false } },
    )
    const plan = planDelivery({ backend, mode: "hybrid", tools })
    return systemPrompt({ systemPrompt: "You help.", tools, plan, unavailable: [], signal: undefined })
  })
}

test("a prompt says when to use which tool: by category, required ones apart, with a call of each and what they need", () => {
  const tools = [
    tool("maybe", { category: "code", usageHint: "Use it rarely." }),
    tool("must", {
      category: "code",
      optionality: "required",
      usageHint: "Use it first.",
      examples: [
        { description: "None", input: {} },
        { description: "Long", input: { path: "x".repeat(200) } },
        { description: "One", input: { path: "a.txt" } },
      ],
    }),
    tool("too", { category: "code", optionality: "required", usageHint: "Use it first." }),
    tool("publish", { category: "publish", consumes: ["draft"] }),
    tool("silent", { examples: [{ description: "One", input: { text: "hello" } }] }),
    tool("mute"),
  ]
  for (const prompt of prompts(tools)) {
    const guidance = prompt.slice(prompt.indexOf("## When to use which tool"))
    expect(guidance).toBe(
      [
        "## When to use which tool, with arguments as an example",
        "code (required):",
        '- must {"path":"a.txt"}',
        "- too",
        "  Use it first.",
        "code (optional):",
        "- maybe",
        "  Use it rarely.",
        "publish (optional):",
        "- publish",
        "  Needs: draft.",
        "utility (optional):",
        '- silent {"text":"hello"}',
      ].join("\n"),
    )
  }
})

test("tools without a hint and an example get no such section", () => {
  for (const prompt of prompts([tool("silent")])) expect(prompt).not.toContain("When to use")
})
