import type { ToolDefinition } from "@toolwright/toolbox"
import type { DeliveryPlan } from "./delivery.ts"

/** What the system prompt is made of. */
export interface PromptParts {
  /** Who the agent is, and how it should work. */
  systemPrompt?: string
  tools: readonly ToolDefinition[]
  plan: Pick<DeliveryPlan, "delivery" | "formatter">
  /** Tools that exist and cannot run here. */
  unavailable?: readonly { name: string; reason: string }[]
  /** What the model says when the task is done. */
  signal?: string | undefined
}

/**
 * The system prompt: who the agent is, then everything about tools, generated from their definitions and never written
 * by hand. With native tool use the definitions travel in the request, so only the guidance stands here.
 */
export function systemPrompt({ systemPrompt = "", tools, plan, unavailable = [], signal }: PromptParts): string {
  const sections = [
    systemPrompt.trim(),
    plan.delivery === "native" ? "" : plan.formatter.formatToolsForPrompt(tools).trim(),
    guidance(tools),
    missing(unavailable),
    signal === undefined ? "" : `When the task is done and checked, reply with ${signal} and no tool call.`,
  ]
  return sections.filter((section) => section !== "").join("\n\n")
}

/** When to use which tool: by category, those that are required before those that are optional. */
function guidance(tools: readonly ToolDefinition[]): string {
  const hinted = tools.filter((tool) => tool.usageHint !== undefined || (tool.consumes?.length ?? 0) > 0)
  if (hinted.length === 0) return ""
  const categories = [...new Set(hinted.map(({ category }) => category))]
  const blocks = categories.map((category) => {
    const entries = hinted
      .filter((tool) => tool.category === category)
      .toSorted((a, b) => rank(a) - rank(b))
      .map((tool) => `- ${tool.name} (${tool.optionality})${hintOf(tool)}`)
    return `${category}:\n${entries.join("\n")}`
  })
  return `## When to use which tool\n${blocks.join("\n")}`
}

function hintOf(tool: ToolDefinition): string {
  const hint = tool.usageHint === undefined ? "" : `: ${tool.usageHint}`
  const needs = (tool.consumes?.length ?? 0) > 0 ? ` Needs: ${tool.consumes!.join(", ")}.` : ""
  return hint + needs
}

const order = ["required", "conditional", "optional"]

function rank(tool: ToolDefinition): number {
  return order.indexOf(tool.optionality)
}

function missing(unavailable: readonly { name: string; reason: string }[]): string {
  if (unavailable.length === 0) return ""
  return `Not available here: ${unavailable.map(({ name, reason }) => `${name} (${reason})`).join("; ")}`
}
