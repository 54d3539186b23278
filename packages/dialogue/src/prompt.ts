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

/**
 * When to use which tool, and how: by category, those that are required apart from the others, each with the arguments
 * of a call, and what neighbours have in common said once.
 */
function guidance(tools: readonly ToolDefinition[]): string {
  const told = tools.filter((tool) => hintOf(tool) !== "" || exampleOf(tool) !== "")
  const groups = new Map<string, ToolDefinition[]>()
  for (const tool of told.toSorted((a, b) => rank(a) - rank(b))) {
    const title = `${tool.category} (${tool.optionality})`
    groups.set(title, [...(groups.get(title) ?? []), tool])
  }
  const categories = [...new Set(told.map(({ category }) => category))]
  const titles = [...groups.keys()].toSorted((a, b) => place(a) - place(b))
  function place(title: string): number {
    return categories.findIndex((category) => title.startsWith(`${category} `))
  }
  if (titles.length === 0) return ""
  return (
    `## When to use which tool, with arguments as an example\n` +
    `${titles.map((title) => `${title}:\n${linesOf(groups.get(title)!)}`).join("\n")}`
  )
}

function linesOf(tools: readonly ToolDefinition[]): string {
  return tools
    .map((tool, index) => {
      const hint = hintOf(tool)
      const next = tools[index + 1]
      const isSaidNext = next !== undefined && hintOf(next) === hint
      return `- ${tool.name}${exampleOf(tool)}${hint === "" || isSaidNext ? "" : `\n  ${hint}`}`
    })
    .join("\n")
}

function hintOf(tool: ToolDefinition): string {
  const needs = (tool.consumes?.length ?? 0) > 0 ? `Needs: ${tool.consumes!.join(", ")}.` : ""
  return [tool.usageHint ?? "", needs].filter((part) => part !== "").join(" ")
}

/** Characters of an example at most: a longer one costs more than it shows. */
const MOST_EXAMPLE = 120

function exampleOf({ examples = [] }: ToolDefinition): string {
  const written = examples.map(({ input }) => JSON.stringify(input))
  const short = written.find((text) => text !== "{}" && text.length <= MOST_EXAMPLE)
  return short === undefined ? "" : ` ${short}`
}

const order = ["required", "conditional", "optional"]

function rank(tool: ToolDefinition): number {
  return order.indexOf(tool.optionality)
}

function missing(unavailable: readonly { name: string; reason: string }[]): string {
  if (unavailable.length === 0) return ""
  return `Not available here: ${unavailable.map(({ name, reason }) => `${name} (${reason})`).join("; ")}`
}
