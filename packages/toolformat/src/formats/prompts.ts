import { toOpenAITools } from "../api/index.ts"
import type { JsonSchema, ToolDefinition } from "@toolwright/toolbox"
import { spacedJson } from "../engine/json-text.ts"
import type { PromptStyle } from "../engine/syntax.ts"

/**
 * One line per parameter, in the schema's own order: name, whether it is required, description, and in brackets its
 * type and the values it may have. What has structure inside is shown as its schema.
 */
export function parameterLines(schema: JsonSchema): string {
  const required = new Set(schema.required ?? [])
  return Object.entries(schema.properties ?? {})
    .map(([name, property]) =>
      (
        `- \`${name}\`${required.has(name) ? " (required)" : ""}: ${property.description ?? ""} ` +
        `[${typeText(property)}]\n`
      ).replace(":  [", ": ["),
    )
    .join("")
}

function typeText(schema: JsonSchema): string {
  const { description: _, ...rest } = schema
  const parts: string[] = []
  if (typeof rest.type === "string") parts.push(rest.type)
  else if (Array.isArray(rest.type)) parts.push(rest.type.join(" or "))
  if (rest.enum !== undefined) parts.push(`one of ${rest.enum.map((value) => JSON.stringify(value)).join(", ")}`)
  if (rest.const !== undefined) parts.push(`always ${JSON.stringify(rest.const)}`)
  if (rest.default !== undefined) parts.push(`default ${JSON.stringify(rest.default)}`)
  const { type: _type, enum: _enum, const: _const, default: _default, ...others } = rest
  if (Object.keys(others).length > 0) parts.push(`schema ${JSON.stringify(others)}`)
  return parts.length > 0 ? parts.join(", ") : "any"
}

/** `## name`, description, parameters, then how to call: models that know no syntax of their own follow this one. */
export const genericPrompt: PromptStyle = (tools, call) =>
  `# Available Tools\n\n${sections(tools)}\nCall tools using JSON format:\n${call}\n`

/** Qwen 2.5's section, with the parameters inline. */
export const qwenPrompt: PromptStyle = (tools, call) =>
  `# Tools\n\nYou have access to the following tools:\n\n` +
  `${sections(tools)}\nTo call a tool, use the following XML format:\n${call}\n`

/** Each tool under its own heading. */
function sections(tools: readonly ToolDefinition[]): string {
  return tools
    .map(({ name, description, parameters }) => `## ${name}\n${description}\n\n${parametersSection(parameters)}`)
    .join("")
}

function parametersSection(schema: JsonSchema): string {
  const lines = parameterLines(schema)
  return lines === "" ? "" : `**Parameters:**\n${lines}\n`
}

/** Each tool with its whole schema as indented JSON. */
export const schemaPrompt: PromptStyle = (tools, call) =>
  `You have access to the following tools:\n\n${tools
    .map(
      (tool) =>
        `### ${tool.name}\n${tool.description}\n\nParameters:\n\`\`\`json\n` +
        `${JSON.stringify(tool.parameters, null, 2)}\n\`\`\`\n\n`,
    )
    .join("")}\nWhen you need to call a tool, use the following format:\n${call}\n`

/** One JSON line per tool between `<tools>` tags: what most open models were trained on, or near it. */
export const toolLinesPrompt: PromptStyle = (tools, call) =>
  `# Tools\n\nYou may call one or more tools to help with the user's request.\n\nThe tools, one JSON object per ` +
  `line:\n<tools>\n${tools.map(toolLine).join("\n")}\n</tools>\n\nTo call a tool, write the call exactly in this ` +
  `form, with the tool's name and its arguments:\n${call}\n`

function toolLine(tool: ToolDefinition): string {
  return spacedJson(toOpenAITools([tool])[0])
}

/** All tools as one JSON array between Mistral's marks. */
export const toolLineArrayPrompt: PromptStyle = (tools) =>
  `[AVAILABLE_TOOLS]\n${JSON.stringify(toOpenAITools(tools))}\n[/AVAILABLE_TOOLS]\n`

/** Each tool as a TypeScript function type in a namespace. */
export const typescriptPrompt: PromptStyle = (tools, call) =>
  `# Tools\n\n## functions\n\nnamespace functions {\n\n` +
  `${tools.map(functionType).join("")}} // namespace functions\n\n` +
  `To call a tool, write the call exactly in this form:\n${call}\n`

function functionType({ name, description, parameters }: ToolDefinition): string {
  return `${comment(description)}type ${name} = (_: ${typeScriptType(parameters)}) => any;\n\n`
}

function comment(text: string | undefined): string {
  return text === undefined || text === ""
    ? ""
    : `${text
        .split("\n")
        .map((line) => `// ${line}`)
        .join("\n")}\n`
}

/** A schema as a TypeScript type; what TypeScript cannot say is left out. */
export function typeScriptType(schema: JsonSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ")
  const union = schema.anyOf ?? schema.oneOf
  if (union !== undefined) return union.map(typeScriptType).join(" | ")
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeScriptType({ ...schema, type })).join(" | ")
  if (schema.type === "array")
    return `Array<${typeof schema.items === "object" ? typeScriptType(schema.items) : "any"}>`
  if (schema.type === "object" || schema.properties !== undefined) {
    const required = new Set(schema.required ?? [])
    const members = Object.entries(schema.properties ?? {}).map(([name, property]) => {
      const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
      return `${comment(property.description)}${key}${required.has(name) ? "" : "?"}: ${typeScriptType(property)},\n`
    })
    return members.length === 0 ? "object" : `{\n${members.join("")}}`
  }
  return schema.type === "integer" ? "number" : (schema.type ?? "any")
}

/** Nothing: the tools travel in the request. */
export const noPrompt: PromptStyle = () => ""
