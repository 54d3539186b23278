import { parametersOf, type Parameter } from "./parameters.ts"
import type { ToolDefinition } from "@toolwright/toolbox"
import { shellQuoted } from "@toolwright/toolbox/shell-word"
import { neutralise } from "../render/neutralise.ts"

/** A tool for people: what it does, its parameters as flags, examples as command lines. */
export function describeTool(tool: ToolDefinition, unavailable: string | undefined): string {
  const sections = [
    [`${tool.name}  (${factsOf(tool, unavailable).join(", ")})`],
    [tool.description.trim()],
    tool.usageHint === undefined ? [] : [tool.usageHint.trim()],
    argumentLines(tool),
    actionLines(tool),
    exampleLines(tool),
  ]
  const text = sections.filter((lines) => lines.length > 0).map((lines) => lines.join("\n"))
  return `${neutralise(text.join("\n\n"))}\n`
}

/** In words, which server a tool comes from; nothing of what is in this process. */
export function originOf(provenance: ToolDefinition["provenance"]): string | undefined {
  if (provenance === undefined || provenance.kind === "local") return undefined
  return `from the ${provenance.kind === "mcp" ? "MCP server" : "tools service"} ${neutralise(provenance.name)}`
}

function factsOf(
  { category, optionality, provenance, effects = {} }: ToolDefinition,
  unavailable: string | undefined,
): string[] {
  const origin = originOf(provenance)
  return [
    category,
    optionality,
    effects.readOnly === true ? "read-only" : effects.destructive === true ? "destructive" : "writes",
    ...(effects.network === true ? ["network"] : []),
    ...(origin === undefined ? [] : [origin]),
    ...(unavailable === undefined ? [] : [`not available here: ${unavailable}`]),
  ]
}

function argumentLines(tool: ToolDefinition): string[] {
  const parameters = parametersOf(tool)
  if (parameters.length === 0) return []
  const width = Math.min(36, Math.max(...parameters.map((parameter) => left(parameter).length)))
  return ["Arguments:", ...parameters.map((parameter) => `  ${left(parameter).padEnd(width)}  ${right(parameter)}`)]
}

function actionLines({ name: tool, actions }: ToolDefinition): string[] {
  if (actions === undefined || actions.list.length === 0) return []
  const lines = actions.list.map(({ name, action, description }) => {
    const own = name ?? `${tool}_${action}`.replaceAll("-", "_")
    return `  ${own.padEnd(28)}  ${firstSentence(description)}`
  })
  return [`Actions (--${actions.argument}, each also a tool of its own):`, ...lines]
}

function exampleLines({ name, examples = [] }: ToolDefinition): string[] {
  if (examples.length === 0) return []
  const lines = examples
    .slice(0, 5)
    .flatMap(({ description, input }) => [
      `  # ${description}`,
      `  toolwright tools call ${name} --args ${shellQuoted(JSON.stringify(input))}`,
    ])
  return ["Examples:", ...lines]
}

export function firstSentence(text: string): string {
  return neutralise(/^.*?[.!?](?=\s|$)/s.exec(text.trim())?.[0] ?? text.trim()).replaceAll(/\s+/g, " ")
}

function left({ flag, kind, items }: Parameter): string {
  return `--${flag} <${kind === "array" ? `${items ?? "any"}…` : kind}>`
}

function right({ description, required, values, fallback }: Parameter): string {
  const notes = [
    ...(required ? ["required"] : []),
    ...(values === undefined
      ? []
      : [values.map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join("|")]),
    ...(fallback === undefined ? [] : [`default ${JSON.stringify(fallback)}`]),
  ]
  return [description.replaceAll(/\s+/g, " "), ...(notes.length === 0 ? [] : [`[${notes.join("; ")}]`])]
    .filter((part) => part !== "")
    .join(" ")
}
