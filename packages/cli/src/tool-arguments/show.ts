import { parametersOf, type Parameter } from "./parameters.ts"
import type { ToolDefinition } from "@toolwright/toolbox"
import { neutralise } from "../render/neutralise.ts"

/** A tool for people: what it does, its parameters as flags, examples as command lines. */
export function describeTool(tool: ToolDefinition, unavailable: string | undefined): string {
  const effects = tool.effects ?? {}
  const facts = [
    tool.category,
    tool.optionality,
    effects.readOnly === true ? "read-only" : effects.destructive === true ? "destructive" : "writes",
    ...(effects.network === true ? ["network"] : []),
    ...(unavailable === undefined ? [] : [`not available here: ${unavailable}`]),
  ]
  const lines = [`${tool.name}  (${facts.join(", ")})`, "", tool.description.trim()]
  if (tool.usageHint !== undefined) lines.push("", tool.usageHint.trim())
  const parameters = parametersOf(tool)
  if (parameters.length > 0) {
    const width = Math.min(36, Math.max(...parameters.map((parameter) => left(parameter).length)))
    lines.push(
      "",
      "Arguments:",
      ...parameters.map((parameter) => `  ${left(parameter).padEnd(width)}  ${right(parameter)}`),
    )
  }
  for (const action of tool.actions?.list ?? []) {
    if (action === tool.actions?.list[0])
      lines.push("", `Actions (--${tool.actions.argument}, each also a tool of its own):`)
    lines.push(
      `  ${(action.name ?? `${tool.name}_${action.action}`.replaceAll("-", "_")).padEnd(28)}  ${firstSentence(action.description)}`,
    )
  }
  for (const [index, example] of (tool.examples ?? []).slice(0, 5).entries()) {
    if (index === 0) lines.push("", "Examples:")
    lines.push(
      `  # ${example.description}`,
      `  toolwright tools call ${tool.name} --args ${quote(JSON.stringify(example.input))}`,
    )
  }
  return `${neutralise(lines.join("\n"))}\n`
}

export function firstSentence(text: string): string {
  return neutralise(/^.*?[.!?](?=\s|$)/s.exec(text.trim())?.[0] ?? text.trim()).replaceAll(/\s+/g, " ")
}

/** Quotes a text for a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
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
