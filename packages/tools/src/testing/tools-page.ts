import type { JsonSchema, ToolAction, ToolDefinition, ToolEffects, ToolExample } from "@toolwright/toolbox"

/** The page of all built-in tools, from their definitions alone. */
export function toolsPage(tools: readonly ToolDefinition[]): string {
  const groups = [...Map.groupBy(tools, (tool) => tool.category)]
  return [
    "# Built-in tools",
    "",
    "Generated from the definitions; `UPDATE_DOCS=1 npx vitest run " +
      "packages/tools/src/tools-page.test.ts` writes it anew.",
    "",
    "Tools that touch files do so inside the allowed directories only, each of which is read-only unless it is " +
      "configured `read-write`.",
    "Paths may be relative to the first of them. Tools of several actions can also be presented as one tool per " +
      "action, named",
    "`{tool}_{action}` (`search_grep`). What a call does to the world is data: permissions, caches and " +
      "agents act on it.",
    "",
    ...groups.flatMap(([category, members]) => [
      `- **${category}**: ${members.map(({ name }) => `[${name}](#${name})`).join(", ")}`,
    ]),
    "",
    ...tools.flatMap(toolSection),
  ].join("\n")
}

function toolSection(tool: ToolDefinition): string[] {
  return [
    `## ${tool.name}`,
    "",
    tool.description,
    ...(tool.usageHint === undefined ? [] : ["", `*${tool.usageHint}*`]),
    "",
    facts(tool),
    "",
    ...(tool.actions === undefined
      ? parameters(tool.parameters)
      : tool.actions.list.flatMap((action) => actionSection(tool, action))),
    ...result(tool.outputSchema),
    ...(tool.actions === undefined ? examples(tool.name, tool.examples ?? []) : []),
  ]
}

function actionSection(tool: ToolDefinition, action: ToolAction): string[] {
  const argument = tool.actions!.argument
  const branch = tool.parameters.oneOf?.find(({ properties }) => {
    const value = properties?.[argument]
    return value?.const === action.action || value?.enum?.includes(action.action)
  })
  const { [argument]: _action, ...properties } = branch?.properties ?? {}
  const required = branch?.required?.filter((name) => name !== argument) ?? []
  return [
    `### ${tool.name} ${action.action}`,
    "",
    `${action.description} ${effectsText(action.effects ?? tool.effects)}`.trim(),
    "",
    ...parameters({ properties, required }),
    ...examples(tool.name, action.examples ?? []),
  ]
}

function facts({ optionality, tags, effects, produces, consumes, capabilities }: ToolDefinition): string {
  return [
    optionality,
    effectsText(effects),
    tags === undefined ? "" : `tags ${tags.join(", ")}`,
    produces === undefined ? "" : `produces ${produces.join(", ")}`,
    consumes === undefined ? "" : `consumes ${consumes.join(", ")}`,
    capabilities === undefined ? "" : `needs ${capabilities.join(", ")}`,
  ]
    .filter((fact) => fact !== "")
    .join(" · ")
}

function effectsText(effects: ToolEffects | undefined): string {
  if (effects === undefined) return ""
  const words = [
    effects.readOnly === true ? "read-only" : "",
    effects.destructive === true ? "destructive" : "",
    effects.idempotent === true ? "idempotent" : "",
    effects.network === true ? "network" : "",
    effects.writes === undefined ? "" : `writes ${effects.writes.map((name) => `\`${name}\``).join(", ")}`,
  ]
  return words.filter((word) => word !== "").join(", ")
}

function parameters({ properties = {}, required = [] }: JsonSchema): string[] {
  const rows = Object.entries(properties).map(([name, schema]) => {
    const need = required.includes(name) ? "required" : ""
    return `| \`${name}\` | ${typeText(schema)} | ${need} | ${cell(schema.description ?? "")} |`
  })
  if (rows.length === 0) return ["No arguments.", ""]
  return ["| argument | type | | meaning |", "| --- | --- | --- | --- |", ...rows, ""]
}

function result(schema: JsonSchema | undefined): string[] {
  const names = Object.entries(schema?.properties ?? {}).map(
    ([name, field]) => `\`${name}\`${field.description === undefined ? "" : ` (${field.description})`}`,
  )
  return names.length === 0 ? [] : [`Result: ${names.join(", ")}.`, ""]
}

function examples(name: string, list: readonly ToolExample[]): string[] {
  if (list.length === 0) return []
  const calls = list.map(
    ({ description, input }) => `${description}:\n\n\`\`\`json\n${JSON.stringify({ name, arguments: input })}\n\`\`\``,
  )
  return [calls.join("\n\n"), ""]
}

function typeText(schema: JsonSchema): string {
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(" \\| ")
  const alternatives = schema.oneOf ?? schema.anyOf
  if (alternatives !== undefined) return [...new Set(alternatives.map(typeText))].join(" or ")
  const type = Array.isArray(schema.type) ? schema.type.join(" or ") : (schema.type ?? "any")
  const items = typeof schema.items === "object" ? ` of ${typeText(schema.items)}` : ""
  return `${type}${items}`
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ")
}
